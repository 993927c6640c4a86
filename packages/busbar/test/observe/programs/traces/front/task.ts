/** In a thread of `offload()`: calls a service by each client. */
import { request } from 'node:http'
import { json } from 'node:stream/consumers'

export default async function ask(url: string): Promise<unknown[]> {
  const byNode = (headers: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      request(url, { headers: headers as never }, (response) => resolve(json(response)))
        .on('error', reject)
        .end()
    })
  const byFetch = await (await fetch(url)).json()
  return [byFetch, await byNode({}), await byNode(['host', new URL(url).host])]
}
