import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import type { ListenerSpec } from '../../src/shared/control-messages.ts'
import { openPort, type Port, portFailure } from '../../src/shared/listeners/open-port.ts'

const spec: ListenerSpec = { id: 'gateway', host: '127.0.0.1', port: 0, serves: { kind: 'gateway' } }
const options = { reusePort: false, paused: true }
const exposed: ListenerSpec = { ...spec, id: 'expose:shop', port: 3101, serves: { kind: 'service', service: 'shop' } }

test('a port passes on unread connections, and closes while they are open', async () => {
  const { promise, resolve } = Promise.withResolvers<Socket>()
  const port = await openPort(spec, options, { connection: resolve, error: assert.ifError })
  const client = connect(port.port, '127.0.0.1')
  const socket = await promise
  await port.close()
  assert.equal(socket.isPaused(), true)
  socket.destroy()
  client.resume()
  await once(client, 'close')
  await assert.rejects(once(connect(port.port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
})

test('failures name the port and the key to change', () => {
  const failure = (code: string, one = spec) => portFailure(Object.assign(new Error(code), { code }), one)
  const taken = failure('EADDRINUSE', { ...spec, port: 3043 })
  assert.equal(taken.code, 'PORT_IN_USE')
  assert.match(taken.message, /3043.*gateway\.port/)
  const forbidden = failure('EACCES', exposed)
  assert.equal(forbidden.code, 'PORT_FORBIDDEN')
  assert.match(`${forbidden.message} ${forbidden.hint}`, /3101.*services\.shop\.expose/)
  assert.equal(failure('EADDRNOTAVAIL').code, 'CONFIG_INVALID')
  assert.match(failure('ENOTFOUND', { ...spec, host: '[::1]' }).hint!, /address ::1 without brackets\.$/)
  assert.equal(failure('ENOTSUP').code, 'PLACEMENT_UNSUPPORTED')
  assert.equal(failure('EMFILE').code, 'RESOURCE_EXHAUSTED')
  assert.equal(failure('EWHATEVER').code, 'INTERNAL')
})

test("a port that is taken rejects with Node's own error", async () => {
  const port = await openPort(spec, options, { connection: (socket) => socket.destroy(), error: assert.ifError })
  const again = openPort({ ...spec, port: port.port }, options, { connection: () => {}, error: assert.ifError })
  await assert.rejects(again, { code: 'EADDRINUSE' })
  await port.close()
})

test(
  'a port that others share closes when it has accepted what the kernel gave it',
  { skip: process.platform !== 'linux' },
  async () => {
    const accepted: Socket[] = []
    const open = (port: number): Promise<Port> => {
      const connection = (socket: Socket): void => void accepted.push(socket.resume())
      return openPort({ ...spec, port }, { reusePort: true, paused: false }, { connection, error: assert.fail })
    }
    const one = await open(0)
    const other = await open(one.port)
    const clients = Array.from({ length: 40 }, () => connect(one.port, '127.0.0.1'))
    // They connect in this turn of the event loop, and the kernel assigns them before any is
    // accepted.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const closed = one.close()
    await Promise.all(clients.map((client) => once(client, 'connect')))
    await closed
    await Promise.all(clients.map((client) => once(client.end('x').resume(), 'finish')))
    while (accepted.length < clients.length) await new Promise(setImmediate)
    assert.deepEqual(
      clients.map(({ errored }) => errored),
      clients.map(() => null),
    )
    for (const socket of [...accepted, ...clients]) socket.destroy()
    await other.close()
  },
)
