import { suite } from 'node:test'
import type { Answer } from '../copies.ts'
import { hash, whole } from '../program.ts'
import { failure } from '../mesh-and-tcp.ts'
import { headOf, ownDispatcher, request, type Bench } from './bench.ts'

/** What `request` resolves to. */
export function testAnswers(bench: Bench): void {
  const { same } = bench
  suite('request: what comes back', () => {
    for (const path of [
      '/json',
      '/text',
      '/bom',
      '/bytes',
      '/empty',
      '/latin1',
      '/large',
      '/chunks',
      '/split',
      '/headers',
      '/trailers',
      '/latin1-words',
      '/coded',
      '/nowhere',
      '/redirect',
    ])
      same(`of ${path}`, async (caller) => {
        const answer = await request(caller, path)
        return [headOf(answer), await answer.body.text(), answer.trailers]
      })
    for (const code of [200, 201, 204, 304, 404, 500])
      same(`with status ${code}`, async (caller) => {
        const answer = await request(caller, `/status?code=${code}&text=Some%20Reason`)
        return [headOf(answer), await answer.body.text()]
      })
    for (const path of ['/json', '/bom', '/bad-json', '/empty'])
      same(`of ${path} as JSON`, async (caller) => {
        const { body } = await request(caller, path)
        return body.json().catch((error: Error) => [error.name, error.message])
      })
    for (const path of ['/bytes', '/large', '/empty', '/chunks'])
      same(`of ${path} as bytes of all kinds`, async (caller) => {
        const buffer = await (await request(caller, path)).body.arrayBuffer()
        const bytes = await (await request(caller, path)).body.bytes()
        const blob = await (await request(caller, path)).body.blob()
        const node = await whole((await request(caller, path)).body)
        const kinds = [
          buffer.constructor.name,
          buffer.byteLength,
          bytes.constructor.name,
          blob.constructor.name,
          blob.type,
        ]
        return [kinds, [new Uint8Array(buffer), bytes, new Uint8Array(await blob.arrayBuffer()), node].map(hash)]
      })
    same('with names of headers as they were written', async (caller) => {
      const answer = await request(caller, '/latin1-words', { responseHeaders: 'raw' })
      await answer.body.dump()
      return Object.values(answer.headers)
        .map(String)
        .filter((text) => /mixed/i.test(text))
    })
    same('of HEAD, on a connection that then closes', async (caller) => {
      const answer = await request(caller, '/json', { method: 'HEAD' })
      await answer.body.dump()
      return [answer.headers['connection'], answer.headers['keep-alive']]
    })
    same('of HEAD', async (caller) => {
      const answer = await request(caller, '/json', { method: 'HEAD' })
      return [headOf(answer), await answer.body.text()]
    })
    same('as form data, which undici refuses', async (caller) => {
      const { body } = await request(caller, '/json')
      const refused = await failure(() => body.formData())
      await body.dump()
      return refused
    })
    same('raw headers', async (caller) => {
      const answer = await request(caller, '/json', { responseHeaders: 'raw' })
      const names = (answer.headers as unknown as (string | Buffer)[]).map(String).filter((_, at) => at % 2 === 0)
      await answer.body.dump()
      return names
        .map((name) => name.toLowerCase())
        .filter((name) => name.startsWith('content'))
        .toSorted()
    })
    same('information before the head', async (caller) => {
      const told: unknown[] = []
      const onInfo = (info: { statusCode: number; headers: unknown }) => told.push(info.statusCode, info.headers)
      const answer = await request(caller, '/hints', { onInfo })
      return [told, await answer.body.text()]
    })
    same(
      'context',
      async (caller) => {
        const answer = await request(caller, '/json')
        await answer.body.dump()
        return [answer.context]
      },
      ownDispatcher,
    )
    same('opaque', async (caller) => {
      const answer = await request(caller, '/json', { opaque: { mine: 1 } })
      await answer.body.dump()
      return answer.opaque
    })
    same('to a callback', async (caller) => {
      const { promise, resolve } = Promise.withResolvers<unknown[]>()
      const { undici, side, extra } = caller
      const returned = undici.request(`${side.at}/json`, { ...extra }, (...given: unknown[]) => resolve(given))
      const [error, answer] = (await promise) as [Error | null, Answer]
      return [returned, error, await answer.body.json()]
    })
  })
}
