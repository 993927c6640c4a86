/**
 * Programs that write to their sockets themselves, or give up behind informational responses: what
 * the client gets at either entrance, for each placement.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { TestApp } from '../support/app/test-app.ts'
import { isWanted } from '../support/mesh/wanted-accelerators.ts'
import { placements, startPlaced } from './placed-program.ts'
import { builtAddon, Client, eventually, get } from './served.ts'

for (const entrance of ['native', 'portable'] as const) {
  const options = { skip: entrance === 'native' && builtAddon === undefined ? 'the entrance is not built' : false }
  describe(`a program behind the ${entrance} entrance`, options, () => {
    let app: TestApp
    before(async () => void (app = await startPlaced('own-responses', entrance)))
    after(async () => await app[Symbol.asyncDispose]())

    for (const service of placements) {
      it(`in ${service} may send informational responses of any kind`, async () => {
        const client = new Client(app.port).send(get(`/${service}/informs`))
        await client.until('done')
        client.socket.destroy()
        const [first, second, last] = client.bytes.split('\r\n\r\n')
        assert.match(first!, /^HTTP\/1\.1 104 .*\r\nx-a: 1\r\nx-b: 2/i)
        assert.match(second!, /^HTTP\/1\.1 199 /)
        assert.match(last!, /^HTTP\/1\.1 200 OK\r\n/)
        // Where the program does not get the gateway's connection, it is about another one.
        assert.equal(/^connection:/im.test(first!), service === 'shared' && isWanted('handover'))
      })

      for (const how of ['continue', 'processing', 'hints', 'own'])
        it(`in ${service} that gives up behind information (${how}) is reported`, async () => {
          const client = new Client(app.port).send(get(`/${service}/gives-up/${how}`, 'Connection: close\r\n'))
          await client.closed
          assert.match(client.bytes, /^HTTP\/1\.1 1\d\d [^]*\r\n\r\nHTTP\/1\.1 502 [^]*SERVICE_HANGUP/)
        })

      it(`in ${service} that gives up behind information is not asked again, also on a kept connection`, async () => {
        await warmUp(app, service)
        const client = new Client(app.port).send(get(`/${service}/gives-up/hints?once`, 'Connection: close\r\n'))
        await client.closed
        assert.deepEqual(statuses(client), ['103', '502'])
        assert.equal(await runs(app, `/${service}/gives-up/hints?once`), 1)
      })

      it(`in ${service} that gives up with nothing is asked once more at most`, async () => {
        await warmUp(app, service)
        const client = new Client(app.port).send(get(`/${service}/leaves`, 'Connection: close\r\n'))
        await client.closed
        assert.deepEqual(statuses(client), ['502'])
        assert.ok((await runs(app, `/${service}/leaves`)) <= 2)
      })

      it(`in ${service} that ends its response before its length has it cut`, async () => {
        const client = new Client(app.port).send(get(`/${service}/states/50`))
        await client.closed
        assert.match(client.bytes, /^HTTP\/1\.1 200 OK\r\ncontent-length: 50\r\n[^]*\r\n\r\n12345$/)
      })

      it(`in ${service} that writes more than its length has it cut there`, async () => {
        for (const how of ['states', 'states-first', 'states-late']) {
          const client = new Client(app.port).send(get(`/${service}/${how}/3`, 'Connection: close\r\n'))
          await client.closed
          assert.match(client.bytes, /^HTTP\/1\.1 200 OK\r\ncontent-length: 3\r\n[^]*\r\n\r\n123$/, how)
        }
        // No later response begins with the rest.
        const client = new Client(app.port).send(get(`/${service}/states/3`) + get(`/${service}/states/5`))
        await eventually(() => client.socket.closed || client.bytes.endsWith('12345'))
        assert.match(client.bytes, /\r\n\r\n123(HTTP\/1\.1 200 [^]*\r\n\r\n12345)?$/)
        client.socket.destroy()
      })

      it(`in ${service} keeps the connection behind a response that has its length, or has no body`, async () => {
        const client = new Client(app.port).send(get(`/${service}/states/5`))
        await client.until('12345')
        client.send(`HEAD /${service}/states/50 HTTP/1.1\r\nHost: a\r\n\r\n`)
        await client.until('content-length: 50')
        client.send(get(`/${service}/states/304`))
        await client.until('304 Not Modified')
        client.send(get(`/${service}/states/5`) + get(`/${service}/states/5`))
        await client.until('12345HTTP/1.1 200 OK')
        client.socket.destroy()
      })

      for (const [how, field] of [
        ['closing', ''],
        ['plainly', 'Connection: close\r\n'],
      ] as const) {
        // Clients share the connections to a command, so what it says of its own is not theirs.
        if (service === 'command' && how === 'closing') continue
        it(`in ${service} that refuses an upload has its connection closed (${how})`, async () => {
          const head = `POST /${service}/refuses/${how} HTTP/1.1\r\nHost: a\r\n${field}Content-Length: 900000\r\n\r\n`
          const client = new Client(app.port).send(head + 'x'.repeat(1_000))
          await client.closed
          assert.match(client.bytes, /^HTTP\/1\.1 413 [^]*\r\nConnection: close\r\n[^]*no/i)
        })
      }

      it(`in ${service} that says keep-alive to a client that closes harms no other client`, async () => {
        for (let round = 0; round < 3; round++) {
          const first = new Client(app.port).send(get(`/${service}/says-keep-alive`, 'Connection: close\r\n'))
          await first.until('kept')
          first.socket.destroy()
          const second = new Client(app.port).send(get(`/${service}/states/5`))
          await second.until('12345')
          assert.deepEqual(statuses(second), ['200'])
          second.socket.destroy()
        }
      })

      for (const how of ['destroy', 'reset'])
        it(`in ${service} that gives up in a response of its own (${how}) has nothing behind it`, async () => {
          const client = new Client(app.port).send(get(`/${service}/part/${how}`))
          await client.closed
          assert.doesNotMatch(client.bytes, /50\d/)
          // A reset may overtake it.
          if (how === 'destroy') assert.match(client.bytes, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\npart$/)
        })

      for (const method of ['POST', 'GET'])
        it(`in ${service} that dies behind information is reported, and ${method} is not repeated`, async () => {
          await warmUp(app, service)
          const fields = 'Content-Length: 0\r\nConnection: close\r\n'
          const client = new Client(app.port)
          client.send(`${method} /${service}/dies/hints HTTP/1.1\r\nHost: a\r\n${fields}\r\n`)
          await client.closed
          assert.deepEqual(statuses(client), ['103', '502'])
          assert.match(client.bytes, /SERVICE_HANGUP|WORKER_DIED/)
        })
    }
  })
}

function statuses({ bytes }: Client): readonly string[] {
  return [...bytes.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status!)
}

/**
 * Leaves a connection to the service that is kept. A death before it may end one that `fetch` has
 * kept.
 */
async function warmUp({ url }: TestApp, service: string): Promise<void> {
  const answer = async (): Promise<string> => await (await fetch(new URL(`/${service}/states/5`, url))).text()
  await eventually(async () => (await answer().catch(() => '')) === '12345')
}

/** How often the service has had a request for `path`. */
async function runs({ url }: TestApp, path: string): Promise<number> {
  const service = path.split('/')[1]!
  return Number(await (await fetch(new URL(`/${service}/runs?of=${encodeURIComponent(path)}`, url))).text())
}
