/**
 * A program that gives its connection up within a response without a length: what the client
 * learns, as under plain Node, at either entrance, for each placement.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { describe, it } from 'node:test'
import type { TestApp } from '../support/app/test-app.ts'
import { unless } from '../support/mesh/accelerators.ts'
import { placements, startPlaced } from './placed-program.ts'
import { builtAddon, Client } from './served.ts'

const outcomes = { reset: 'cut', destroy: 'whole', fail: 'whole' }
const requests = [
  { version: '1.1', path: '/', fields: '' },
  { version: '1.1', path: '/raw', fields: '' },
  { version: '1.0', path: '/', fields: '' },
  { version: '1.1', path: '/', fields: 'Connection: Upgrade\r\nUpgrade: x\r\n' },
]
let count = 0

/** The program does so with the connection of this request. */
async function act(app: TestApp, service: string, how: string, id: string): Promise<void> {
  await (await fetch(new URL(`/${service}/act?id=${id}&how=${how}`, app.url))).text()
}

/** Whether the client takes what it got for all. */
async function outcome(
  app: TestApp,
  service: string,
  how: string,
  request: (typeof requests)[number],
): Promise<string> {
  const { version, path, fields } = request
  const id = `${++count}`
  const client = new Client(app.port)
  let isReset = false
  client.socket.on('error', () => (isReset = true))
  client.send(`GET /${service}${path}?id=${id} HTTP/${version}\r\nHost: a\r\n${fields}\r\n`)
  await client.until('part')
  await act(app, service, how, id)
  if (!/^transfer-encoding: chunked/im.test(client.bytes)) {
    await client.closed
    return isReset ? 'cut' : 'whole'
  }
  const isWhole = client.until('\r\n0\r\n\r\n').then(
    () => true,
    () => false,
  )
  await Promise.race([isWhole, client.closed])
  client.socket.destroy()
  return (await isWhole) ? 'whole' : 'cut'
}

for (const entrance of ['native', 'portable'] as const) {
  const isMissing = entrance === 'native' && builtAddon === undefined
  const skip = isMissing ? 'the entrance is not built' : unless('exchange', 'stream', 'handover')
  describe(`a response without a length at the ${entrance} entrance`, { skip }, () => {
    it('is cut by a reset of its program, and ended by a close', async () => {
      await using app = await startPlaced('gives-up', entrance)
      for (const service of placements) {
        for (const request of requests) {
          // The entrance's own connection to a process is a Unix socket, which has no reset.
          const isDirect = entrance === 'native' && service === 'process' && request.version === '1.1'
          for (const [how, expected] of Object.entries(outcomes)) {
            if (how === 'reset' && isDirect && request.fields === '') continue
            const name = `${service} HTTP/${request.version} ${request.path} ${request.fields}${how}`
            assert.equal(await outcome(app, service, how, request), expected, name)
          }
        }
      }
    })

    it('is cut where its chunks are malformed, though its program ends it', async () => {
      await using app = await startPlaced('gives-up', entrance)
      for (const service of placements) {
        const client = new Client(app.port)
        client.socket.on('error', () => {})
        client.send(`GET /${service}/malformed HTTP/1.1\r\nHost: a\r\n\r\n`)
        await client.closed
        assert.doesNotMatch(client.bytes, /\r\n0\r\n\r\n$/, service)
      }
    })

    it('is so for a client of HTTP/2', { skip: entrance === 'portable' }, async () => {
      await using app = await startPlaced('gives-up', entrance)
      const session = connect(app.url).on('error', () => {})
      for (const service of ['shared', 'thread', 'command']) {
        for (const [how, expected] of Object.entries(outcomes)) {
          const id = `${++count}`
          const stream = session.request({ ':path': `/${service}/?id=${id}` }).on('error', () => {})
          await once(stream, 'data')
          await act(app, service, how, id)
          stream.resume()
          if (!stream.closed) await new Promise<void>((resolve) => stream.once('close', resolve))
          assert.equal(stream.rstCode === 0 ? 'whole' : 'cut', expected, `${service} ${how}`)
        }
      }
      session.close()
    })
  })
}
