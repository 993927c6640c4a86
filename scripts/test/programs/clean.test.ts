import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'

test('closes what it opened', async () => {
  const server = createServer((_, response) => response.end('fine')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await (await fetch(`http://127.0.0.1:${server.address().port}`)).text()
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
  const child = spawn(process.execPath, ['-p', 'process.env.NODE_TEST_CONTEXT'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data')
  if (said.trim() !== 'undefined') throw new Error(`a child took itself for a test file: ${said}`)
  await once(child, 'close')
})
