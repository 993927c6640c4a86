import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import type { Ports as PortsClass } from '../src/protocol/ports.ts'

test('a lab does not take the ports of another, though nothing listens there, until they come back', async (t) => {
  t.mock.method(Math, 'random', () => 0.5)
  const one = await (await aLab('one')).claim()
  {
    await using other = await (await aLab('other')).claim()
    assert.ok(other.first > one.first)
  }
  await one[Symbol.asyncDispose]()
  await using again = await (await aLab('third')).claim()
  assert.ok(again.first <= one.first)
})

test('ports of which one is taken are passed over', async (t) => {
  t.mock.method(Math, 'random', () => 0.25)
  const would = await (await aLab('fourth')).claim()
  await would[Symbol.asyncDispose]()
  const server = createServer().listen(would.first + 3, '127.0.0.1')
  await once(server, 'listening')
  await using ports = await (await aLab('fifth')).claim()
  assert.notEqual(ports.first, would.first)
  await new Promise((resolve) => server.close(resolve))
})

/** As another process has it: a module of its own. */
async function aLab(name: string): Promise<typeof PortsClass> {
  const { Ports } = (await import(`../src/protocol/ports.ts?${name}`)) as { Ports: typeof PortsClass }
  return Ports
}
