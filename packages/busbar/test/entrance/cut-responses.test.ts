/** Responses that services break off: what clients get, and how they count, at either entrance. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { placements, startPlaced } from './placed-program.ts'
import { builtAddon, Client, eventually, get } from './served.ts'

for (const entrance of ['native', 'portable'] as const) {
  const options = { skip: entrance === 'native' && builtAddon === undefined ? 'the entrance is not built' : false }
  describe(`a response that a service breaks off, at the ${entrance} entrance`, options, () => {
    it('counts as a call without a status, at every placement', async () => {
      await using app = await startPlaced('cuts', entrance)
      const outcomesOf = (service: string): readonly (readonly [status: string | number, count: number])[] =>
        app.running
          .status()
          .edges.filter(({ callee }) => callee === service)
          .flatMap(({ outcomes }) => outcomes.map(({ status, count }) => [status, count] as const))
      for (const service of placements)
        for (const [place, path] of ['at-once', 'later'].entries()) {
          const client = new Client(app.port).send(get(`/${service}/${path}`))
          await client.closed
          if (path === 'later') assert.match(client.bytes, /^HTTP\/1\.1 200 [^]*\r\n\r\nhalf$/, service)
          else assert.doesNotMatch(client.bytes, /^HTTP\/1\.1 200 /, service)
          await eventually(() => outcomesOf(service).some(([, count]) => count > place))
          assert.deepEqual(outcomesOf(service), [['none', place + 1]], service)
        }
    })
  })
}
