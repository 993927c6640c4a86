import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import type { Arm } from '../../src/arm.ts'
import { isFree } from '../../src/protocol/ports.ts'
import { withWorkspace } from '../../src/protocol/workspace.ts'
import { rehearse } from '../../src/try-app/rehearse.ts'
import { replay } from '../../src/try-app/replay.ts'
import { freePort } from '../../../busbar/test/support/http/free-ports.ts'
import { server } from '../support/repository.ts'

/** A program that answers with `answer`, and does `first` when it starts. */
function armOf(answer: string, first = ''): Arm {
  return {
    name: 'own',
    title: 'one of its own',
    launch: ({ port }) => ({
      command: [process.execPath, '-e', `${first}\n${server(port, answer)}`],
      target: { address: `127.0.0.1:${port}`, path: '/' },
    }),
  }
}

/** Of two copies, against a baseline that answers `'same'`. */
function rehearsalOf(arm: Arm, ports: readonly number[], stop?: AbortSignal): Promise<string | undefined> {
  const requests = [{ method: 'GET', path: '/', headers: [], weight: 1 }]
  const { signal } = new AbortController()
  return withWorkspace(async (workspace) => {
    const found = await replay(armOf(`'same'`), { requests, workspace, signal, portOf: () => undefined })
    const expected = found.map((samples) => [samples])
    return await rehearse({
      arms: [arm, arm],
      ports,
      requests,
      expected,
      connections: 2,
      workspace,
      signal: stop ?? signal,
    })
  })
}

test('two copies that answer as the baseline can run at once, and leave its ports free', async () => {
  const port = await freePort()
  assert.equal(await rehearsalOf(armOf(`'same'`), [port]), undefined)
  assert.equal(await isFree(port), true)
})

test('a call to a port of the baseline shows, also one whose answer nobody reads', async () => {
  const port = await freePort()
  const call = `fetch('http://localhost:${port}').catch(() => {})`
  const expected = `something connects to port ${port}, not through the mesh`
  assert.equal(await rehearsalOf(armOf(`(${call}, 'same')`), [port]), expected)
  const starting = armOf(
    `'same'`,
    `${call}; require('node:http').Server.prototype.listen = () => setInterval(() => {}, 1000)`,
  )
  assert.equal(await rehearsalOf(starting, [port]), expected)
})

test('a call to a port of the baseline that a program makes only now and then shows', async () => {
  const port = await freePort()
  const rarely = `(globalThis.asked = (globalThis.asked ?? 0) + 1) % 50 || fetch('http://localhost:${port}').catch(() => {})`
  const expected = `something connects to port ${port}, not through the mesh`
  assert.equal(await rehearsalOf(armOf(`(${rarely}, 'same')`), [port]), expected)
})

const onLinux = { skip: process.platform === 'linux' ? false : 'has one address only, 127.0.0.1' }

test('a call to a port of the baseline by another address of the machine shows', onLinux, async () => {
  const port = await freePort()
  const call = `(fetch('http://127.0.1.1:${port}').catch(() => {}), 'same')`
  assert.equal(await rehearsalOf(armOf(call), [port]), `something connects to port ${port}, not through the mesh`)
})

test('other answers, and what only one of two copies can have, show', async () => {
  assert.equal(
    await rehearsalOf(armOf(`'other'`), []),
    'one of its own answers GET / otherwise if it runs beside others',
  )
  const port = await freePort()
  const exclusive = armOf(`'same'`, `require('node:net').createServer().listen(${port})`)
  assert.match((await rehearsalOf(exclusive, []))!, /^they do not start beside each other: .*EADDRINUSE/)
})

test('a port of the baseline that somebody else has is a reason, too', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  assert.equal(await rehearsalOf(armOf(`'same'`), [port]), `port ${port} is in use`)
  other.close()
})

test('an abort ends it', async () => {
  const aborted = AbortSignal.abort(new Error('stopped'))
  await assert.rejects(rehearsalOf(armOf(`'same'`), [], aborted), /stopped/)
})
