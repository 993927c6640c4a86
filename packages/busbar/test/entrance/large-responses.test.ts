/** A response that its client does not read waits in the program, in every placement. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, before, describe, it } from 'node:test'
import type { TestApp } from '../support/app/test-app.ts'
import { placements, startPlaced } from './placed-program.ts'
import { builtAddon, eventually } from './served.ts'

const size = 32 * 1024 * 1024
const text = Buffer.alloc(size, 'abcdefghijk')

for (const entrance of ['portable', 'native'] as const) {
  const skip = entrance === 'native' && builtAddon === undefined ? 'the entrance is not built' : false
  describe(`a large response, ${entrance} entrance`, { skip }, () => {
    let app: TestApp
    before(async () => {
      app = await startPlaced('large', entrance)
    })
    after(() => app[Symbol.asyncDispose]())

    for (const placement of placements)
      for (const [name, path, extra] of [
        ['with a length', 'all', 0],
        ['in chunks', 'chunks', 1],
      ] as const)
        it(`${name}, ${placement}: is finished when its client has room for it`, async () => {
          const finished = async (): Promise<number> =>
            Number(await (await fetch(new URL(`/${placement}/finished`, app.url))).text())
          const before = await finished()
          const clients = await Promise.all([1, 2, 3].map(() => pausedAt(new URL(`/${placement}/${path}`, app.url))))
          assert.equal((await finished()) - before, 0)
          for (const response of clients) {
            const body = Buffer.concat(await response.toArray())
            assert.equal(body.length, size + extra)
            assert.ok(body.subarray(extra).equals(text))
          }
          await eventually(async () => (await finished()) - before === clients.length)
        })
  })
}

/** A response whose head has arrived, and which is not read. */
async function pausedAt(url: URL): Promise<IncomingMessage> {
  const [response] = (await once(request(url, { agent: false }).end(), 'response')) as [IncomingMessage]
  return response
}
