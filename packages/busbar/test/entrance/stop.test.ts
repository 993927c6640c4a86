/** What clients get while the app stops, at either entrance, for each placement. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { placements, startPlaced } from './placed-program.ts'
import { builtAddon, Client, get } from './served.ts'

const last = /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/is

for (const entrance of ['native', 'portable'] as const) {
  const options = { skip: entrance === 'native' && builtAddon === undefined ? 'the entrance is not built' : false }
  describe(`an app that stops, at the ${entrance} entrance`, options, () => {
    it(
      'answers what is in flight and what comes on open connections, and says that it closes them',
      { timeout: 30_000 },
      async () => {
        await using app = await startPlaced('stops', entrance)
        const slow = placements.map((service) => new Client(app.port).send(get(`/${service}/slow`)))
        await app.until(() => app.log.filter(({ line }) => line === 'begins').length === placements.length)
        const busy = placements.map((service) => ({ service, client: new Client(app.port) }))
        await Promise.all(busy.map(async ({ client, service }) => await next(client, service)))
        const stopped = app.running.stop()
        const untilLast = async ({ client, service }: (typeof busy)[number]): Promise<void> => {
          let answer = ''
          while (!last.test(answer)) {
            answer = await next(client, service)
            assert.match(answer, /^HTTP\/1\.1 200 /, service)
          }
          await client.closed
        }
        await Promise.all(busy.map(untilLast))
        for (const client of slow) {
          await client.until('answered')
          assert.match(client.bytes, last)
        }
        await stopped
      },
    )

    for (const path of ['keeps', 'keeps/pairs', 'keeps/set'])
      it(`says that it closes a connection that its program would keep: /${path}`, { timeout: 60_000 }, async () => {
        await using app = await startPlaced('stops', entrance)
        const slow = new Client(app.port).send(get('/thread/slow'))
        await app.untilLogged('begins')
        const busy = placements.map((service) => ({ service, client: new Client(app.port) }))
        for (const { client, service } of busy) {
          const answer = await next(client, service, path)
          assert.match(answer, /^HTTP\/1\.1 200 .*\r\nConnection: keep-alive\r\n/is, service)
        }
        const stopped = app.running.stop()
        const untilLast = async ({ client, service }: (typeof busy)[number]): Promise<void> => {
          let answer = ''
          while (!last.test(answer)) {
            answer = await next(client, service, path)
            assert.match(answer, /^HTTP\/1\.1 200 .*\r\nConnection: /is, service)
          }
          assert.doesNotMatch(answer, /\r\nConnection: keep-alive/i)
          await client.closed
        }
        await Promise.all(busy.map(untilLast))
        await slow.until('answered')
        await stopped
      })
  })
}

/** The response to a further request on the connection. */
async function next(client: Client, service: string, path = ''): Promise<string> {
  client.bytes = ''
  await client.send(get(`/${service}/${path}`)).until('answered')
  return client.bytes
}
