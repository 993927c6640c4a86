import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'

test('leaves a server open', async () => {
  await once(createServer().listen(0, '127.0.0.1'), 'listening')
})
