import assert from 'node:assert/strict'
import type { StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { withoutConnections } from '../../src/shared/process/child-stdio.ts'

const skip = process.platform !== 'linux'

test('a connection is hidden if stdio names nothing for its descriptor, or ignores it', { skip }, async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  const { fd } = (socket as unknown as { _handle: { fd: number } })._handle
  const given = (named: StdioOptions) => withoutConnections(named, (stdio) => stdio[fd])
  const upTo = (last: 'ignore' | 'pipe') => Array.from({ length: fd + 1 }, (_, at) => (at === fd ? last : 'ignore'))
  assert.equal(typeof given('pipe'), 'number')
  assert.equal(typeof given(upTo('ignore')), 'number')
  assert.equal(given(upTo('pipe')), 'pipe')
  socket.destroy()
  server.close()
  await once(server, 'close')
})
