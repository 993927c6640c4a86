/** What the limits of a program's own server do, at either entrance, for each placement. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { placements, startPlaced } from './placed-program.ts'
import { builtAddon, Client, get } from './served.ts'

const kept = /^HTTP\/1\.1 200 [^]*\r\nConnection: keep-alive\r\n/i

for (const entrance of ['native', 'portable'] as const) {
  const options = { skip: entrance === 'native' && builtAddon === undefined ? 'the entrance is not built' : false }
  describe(`a limit of a program's own server, at the ${entrance} entrance`, options, () => {
    it('maxRequestsPerSocket ends connections of clients in threads and processes only', async () => {
      await using app = await startPlaced('limits', entrance, { LIMITS: '{"maxRequestsPerSocket":2}' })
      for (const service of placements) {
        const client = new Client(app.port)
        assert.match(await next(client, get(`/${service}/`)), kept, service)
        const second = await next(client, get(`/${service}/`))
        if (service === 'shared' || service === 'command') {
          assert.match(second, kept, service)
          assert.match(await next(client, get(`/${service}/`)), kept, service)
          client.socket.destroy()
          continue
        }
        assert.match(second, /\r\nConnection: close\r\n/i, service)
        await client.closed
      }
    })

    it('keepAliveTimeout is that of the app, at every placement', async () => {
      await using app = await startPlaced('limits', entrance, { LIMITS: '{"keepAliveTimeout":1000}' })
      for (const service of placements) {
        const client = new Client(app.port)
        assert.match(await next(client, get(`/${service}/`)), /\r\nKeep-Alive: timeout=600\r\n/i, service)
        client.socket.destroy()
      }
    })

    it('timeout is 502 at every placement', async () => {
      await using app = await startPlaced('limits', entrance, { LIMITS: '{"timeout":500}' })
      for (const service of placements) {
        const client = new Client(app.port).send(get(`/${service}/slow`))
        await client.closed
        assert.match(client.bytes, /^HTTP\/1\.1 502 [^]*SERVICE_HANGUP/, service)
      }
    })

    it('maxHeadersCount is 431 at every placement', async () => {
      await using app = await startPlaced('limits', entrance, { LIMITS: '{"maxHeadersCount":3}' })
      for (const service of placements) {
        const client = new Client(app.port).send(get(`/${service}/`, 'A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n'))
        await client.until('\r\n\r\n')
        assert.match(client.bytes, /^HTTP\/1\.1 431 /, service)
        client.socket.destroy()
      }
    })

    it('maxConnections limits the requests in flight elsewhere than in shared workers', async () => {
      await using app = await startPlaced('limits', entrance, { LIMITS: '{"maxConnections":1}' })
      for (const service of placements) {
        const begun = app.log.filter(({ line }) => line === 'begins').length
        const slow = new Client(app.port).send(get(`/${service}/slow`))
        await app.until(() => app.log.filter(({ line }) => line === 'begins').length > begun)
        const other = new Client(app.port).send(get(`/${service}/`))
        await other.until('\r\n\r\n')
        // The slow one may be over on a busy machine.
        const isLimited = service !== 'shared' && slow.bytes === ''
        if (isLimited) assert.match(other.bytes, /^HTTP\/1\.1 502 /, service)
        await slow.until('answered')
        if (service === 'shared') assert.match(other.bytes, /^HTTP\/1\.1 200 /)
        for (const client of [slow, other]) client.socket.destroy()
      }
    })

    it('requestTimeout does not apply in shared workers', async () => {
      const limits = { requestTimeout: 800, headersTimeout: 700, connectionsCheckingInterval: 200 }
      await using app = await startPlaced('limits', entrance, { LIMITS: JSON.stringify(limits) })
      const begin = (service: string): string => `POST /${service}/ HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na`
      const shared = new Client(app.port).send(begin('shared'))
      for (const service of ['thread', 'process', 'command']) {
        const client = new Client(app.port).send(begin(service))
        await client.until('\r\n\r\n')
        assert.match(client.bytes, /^HTTP\/1\.1 408 /, service)
        client.socket.destroy()
      }
      assert.match(await next(shared, 'b'), kept)
      shared.socket.destroy()
    })
  })
}

/** The response to what is sent next. */
async function next(client: Client, sent: string): Promise<string> {
  client.bytes = ''
  await client.send(sent).until('answered')
  return client.bytes
}
