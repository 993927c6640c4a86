import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import type { Ports as PortsClass } from '../../src/protocol/ports.ts'

test('a lab does not use ports that another has reserved, even if nothing listens there', async (t) => {
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

test('a range with an occupied port is skipped', async (t) => {
  t.mock.method(Math, 'random', () => 0.25)
  const would = await (await aLab('fourth')).claim()
  await would[Symbol.asyncDispose]()
  const server = createServer().listen(would.first + 3, '127.0.0.1')
  await once(server, 'listening')
  await using ports = await (await aLab('fifth')).claim()
  assert.notEqual(ports.first, would.first)
  await new Promise((resolve) => server.close(resolve))
})

test('a range with a port that another arm will open is skipped', async (t) => {
  t.mock.method(Math, 'random', () => 0.75)
  const would = await (await aLab('sixth')).claim()
  await would[Symbol.asyncDispose]()
  await using ports = await (await aLab('seventh')).claim(new Set([would.first + 3]))
  assert.notEqual(ports.first, would.first)
})

/** A second copy of the module, as in another process. */
async function aLab(name: string): Promise<typeof PortsClass> {
  const { Ports } = (await import(`../../src/protocol/ports.ts?${name}`)) as { Ports: typeof PortsClass }
  return Ports
}
