/** Clients of the admin port that hold more connections than it keeps. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect as connectTcp } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { pollUntil, TestApp } from '../support/app/test-app.ts'

const any = `${import.meta.dirname}/programs/any.js`
const token = 'a token for this test'
const admin = { host: '127.0.0.1', port: 0, token }

describe('connections of the admin port', () => {
  for (const clients of [300, 700])
    test(`answers while ${clients} clients hold connections without a whole request`, async () => {
      await using app = await TestApp.start({ services: { any }, admin })
      const { hostname, port } = new URL(app.running.adminUrls[0]!)
      const held = Array.from({ length: clients }, () => connectTcp(Number(port), hostname))
      try {
        for (const socket of held) socket.on('error', () => {}).write('GET /healthz HTTP/1.1\r\n')
        await Promise.all(held.map((socket) => once(socket, 'connect')))
        assert.equal(await probe(app.running.adminUrls[0]!), 200)
        // It keeps some of them at most.
        await pollUntil(() => held.filter(({ closed }) => closed).length >= clients - 64)
      } finally {
        for (const socket of held) socket.destroy()
      }
    })

  test('answers clients that open many connections before they send a request on each', async () => {
    await using app = await TestApp.start({ services: { any }, admin })
    const url = app.running.adminUrls[0]!
    const { hostname, port, host } = new URL(url)
    const opened = Array.from({ length: 72 }, () => connectTcp(Number(port), hostname))
    await Promise.all(opened.map((socket) => once(socket, 'connect')))
    // It accepts connections in their order.
    assert.equal(await probe(url), 200)
    const fields = [`Host: ${host}`, `Authorization: Bearer ${token}`, 'Connection: close']
    for (const socket of opened) socket.write(`GET /ready HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`)
    const answers = await Promise.all(opened.map((socket) => text(socket)))
    assert.deepEqual([...new Set(answers.map((answer) => answer.slice(0, 12)))], ['HTTP/1.1 200'])
  })
})

/** The status that a new connection gets. */
async function probe(url: string): Promise<number> {
  const [response] = (await once(get(`${url}/healthz`, { agent: false }), 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode!
}
