import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, test } from 'node:test'
import axios from 'axios'
import { got } from 'got'
import { ByteMesh } from '../../support/mesh/byte-mesh.ts'

const url = 'http://catalog.internal/'
const size = 3_000_000

/** Responds as soon as it has seen some of the body, and reads no more of it. */
function refuser(): http.Server {
  return http.createServer((request, response) => {
    request.once('data', () => {
      request.pause()
      response.writeHead(413, { connection: 'close' }).end('too large')
    })
  })
}

type Upload = (body: Buffer) => Promise<{ status: number; text: string }>

const clients: Record<string, Upload> = {
  async 'node:http'(body) {
    const request = http.request(url, { method: 'POST', agent: false })
    // Of a write after the response.
    request.on('error', () => {})
    request.end(body)
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    return { status: response.statusCode!, text: Buffer.concat(await response.toArray()).toString() }
  },
  async axios(body) {
    const { status, data } = await axios.post<string>(url, body, { validateStatus: null, maxRedirects: 0 })
    return { status, text: data }
  },
  async got(body) {
    const { statusCode, body: text } = await got.post(url, { body, throwHttpErrors: false, retry: { limit: 0 } })
    return { status: statusCode, text }
  },
}

describe('a client that still sends gets the response that its service has left', () => {
  for (const [name, upload] of Object.entries(clients))
    test(`by ${name}`, async () => {
      await using _mesh = new ByteMesh({ catalog: refuser() })
      assert.deepEqual(await upload(Buffer.alloc(size, 'x')), { status: 413, text: 'too large' })
    })
})

test('a client that never reads learns that its service has gone', async () => {
  const program = http.createServer({ requestTimeout: 0 })
  program.on('upgrade', (_, socket) => socket.end('HTTP/1.1 101 Yes\r\n\r\n', () => socket.destroy()))
  await using _mesh = new ByteMesh({ catalog: program })
  const socket = net.connect({ port: 80, host: 'catalog.internal', allowHalfOpen: true }).pause()
  let error: NodeJS.ErrnoException | undefined
  socket.on('error', (failure) => (error = failure))
  socket.write('GET / HTTP/1.1\r\nHost: catalog.internal\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  for (; error === undefined; await nextTurn()) socket.write('more')
  assert.match(error.code!, /^(?:EPIPE|ECONNRESET)$/)
})
