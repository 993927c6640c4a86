import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net, { type Server } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOn } from '../../support/mesh/accelerators.ts'
import { ByteMesh } from '../../support/mesh/byte-mesh.ts'
import { textOf } from '../../support/http/clients.ts'

async function get(url: string): Promise<string> {
  const request = http.get(url, { agent: false })
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  return textOf(response)
}

function countOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}

describe('a program whose server', () => {
  test('speaks HTTPS is called in plain text', async () => {
    const program = https.createServer({}, (request, response) => void response.end(`plain ${request.url}`))
    await using _mesh = new ByteMesh({ catalog: program })
    assert.equal(await get('http://catalog.internal/x'), 'plain /x')
  })

  test('speaks HTTP/2 over TLS, and HTTP/1 too, is called in plain text', async () => {
    const program = http2.createSecureServer({ allowHTTP1: true }, (request, response) => {
      response.end(`version ${request.httpVersion}`)
    })
    await using _mesh = new ByteMesh({ catalog: program as unknown as http.Server })
    assert.equal(await get('http://catalog.internal/'), 'version 1.1')
  })

  test('counts its connections counts those of the mesh', async () => {
    const open = Promise.withResolvers<http.ServerResponse>()
    const program = http.createServer((_request, response) => open.resolve(response))
    await using _mesh = new ByteMesh({ catalog: program })
    const answer = get('http://catalog.internal/')
    const response = await open.promise
    assert.equal(await countOf(program), 1)
    const closed = once(response.socket!, 'close')
    response.end('ok')
    assert.equal(await answer, 'ok')
    await closed
    assert.equal(await countOf(program), 0)
  })

  test('is left by a client that has sent nothing keeps no connection of it', async () => {
    const program = http.createServer((request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('abc')
      if (request.url === '/last') response.end('x'.repeat(97))
    })
    await using _mesh = new ByteMesh({ catalog: program })
    for (let n = 0; n < 5; n++) {
      await once(net.connect(80, 'catalog.internal').resume().end(), 'close')
      // A client that does not read to the end opens its next connection in advance, and leaves it.
      const { body } = await fetch('http://catalog.internal/')
      await body!.cancel()
    }
    assert.equal((await get('http://catalog.internal/last')).length, 100)
    while ((await countOf(program)) > 0) await sleep(5)
  })

  test('limits its connections closes those above the limit', async () => {
    const program = http.createServer((_request, response) => void response.write('held'))
    program.maxConnections = 1
    await using _mesh = new ByteMesh({ catalog: program })
    const first = http.get('http://catalog.internal', { agent: false })
    await once(first, 'response')
    const second = http.get('http://catalog.internal', { agent: false })
    const [error] = (await once(second, 'error')) as [NodeJS.ErrnoException]
    // The error code of a Unix socket may differ.
    const codes = isOn('stream') ? ['ECONNRESET'] : ['ECONNRESET', 'EPIPE']
    assert.ok(codes.includes(error.code!), error.code)
    first.on('error', () => {}).destroy()
  })

  test('gets something that is not HTTP answers 400', async () => {
    await using _mesh = new ByteMesh({ catalog: () => assert.fail('called') })
    const socket = net.connect(80, 'catalog.internal')
    socket.end('EHLO catalog\r\n\r\n')
    assert.match(Buffer.concat(await socket.toArray()).toString(), /^HTTP\/1\.1 400 /)
  })

  test('gets pipelined requests answers them in order', async () => {
    const program: http.RequestListener = (request, response) => void response.end(`<${request.url}>`)
    await using _mesh = new ByteMesh({ catalog: program })
    const socket = net.connect(80, 'catalog.internal')
    const requests = ['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: catalog.internal\r\n`)
    socket.end(`${requests.join('\r\n')}Connection: close\r\n\r\n`)
    const text = Buffer.concat(await socket.toArray()).toString()
    assert.deepEqual(text.match(/<\/\d>/g), ['</1>', '</2>', '</3>'])
  })
})
