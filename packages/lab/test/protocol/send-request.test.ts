import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { sendRequest } from '../../src/protocol/client/send-request.ts'

async function ask(listener: RequestListener): Promise<unknown> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    return await sendRequest({ address }, { path: '/' }, { silentMs: 5000, endMs: 300, maxBytes: 1000 })
  } catch (error) {
    return (error as Error).message
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('an answer that does not end is given up, however steadily it comes', async () => {
  const answer = await ask((_, response) => {
    const timer = setInterval(() => response.write('data: 1\n\n'), 20)
    response.on('close', () => clearInterval(timer))
  })
  assert.equal(answer, 'no end of the answer within 0.3 s')
})

test('an answer that is too large is given up', async () => {
  assert.match(String(await ask((_, response) => response.end('x'.repeat(2000)))), /^an answer of more than/)
})

test('an answer within the limits has its status and body', async () => {
  const answer = (await ask((_, response) => response.writeHead(201).end('made'))) as { status: number; body: Buffer }
  assert.deepEqual([answer.status, String(answer.body)], [201, 'made'])
})
