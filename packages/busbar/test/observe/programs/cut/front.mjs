import { createServer, get } from 'node:http'
import { request } from 'undici'

/** Ends each call as the path says: `/client/end`. */
createServer(async ({ url }, response) => {
  const [, client, end] = url.split('/')
  try {
    await clients[client](`http://back.internal/${end}`, end === 'leave')
    response.end('complete')
  } catch {
    response.end('failed')
  }
}).listen(3000)

const clients = {
  fetch: async (url, leaves) => {
    const { body } = await fetch(url)
    await readAll(body, leaves)
  },
  undici: async (url, leaves) => {
    const { body } = await request(url)
    await readAll(body, leaves)
  },
  node: async (url, leaves) => {
    const { promise, resolve, reject } = Promise.withResolvers()
    get(url, { agent: false }, resolve).on('error', reject)
    await readAll(await promise, leaves)
  },
}

async function readAll(body, leaves) {
  for await (const _ of body) if (leaves) return
}
