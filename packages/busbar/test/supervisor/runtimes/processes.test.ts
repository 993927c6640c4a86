/** Threads and processes, without links between workers. */
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { AppLogRecord } from '../../../src/supervisor/running-app.ts'
import { startSupervisor } from '../../../src/supervisor/supervisor.ts'
import { type AppSetup, appOf, pollUntil, TestApp } from '../../support/app/test-app.ts'
import { Connection, openMany } from '../../support/http/raw-connection.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const file = `${dirname(import.meta.dirname)}/programs/any.js`
const megabyte = 1024 * 1024

for (const run of ['thread', 'process'] as const) {
  test(`an entry in its own ${run} gets raw connections, and there is no other worker`, async () => {
    await using app = await TestApp.start({ services: { any: { file, run } } })
    assert.deepEqual(
      app.running.workers.map(({ name, kind }) => [name, kind]),
      [['any', run]],
    )
    using connection = await Connection.open(app.port)
    assert.notEqual(await connection.thread(), undefined)
  })

  test(`connections are spread over the instances of a ${run}`, async () => {
    await using app = await TestApp.start({ services: { any: { file, run, instances: 2 } } })
    using connections = await openMany(app.port, 4)
    await Promise.all(connections.map((connection) => connection.thread()))
    assert.deepEqual(
      app.running.workers.map(({ connections }) => connections),
      [2, 2],
    )
  })

  test(`a ${run} finishes in-flight requests when the app stops`, async () => {
    await using app = await TestApp.start({ services: { any: { file, run } } })
    using connection = await Connection.open(app.port)
    connection.send('/later?ms=200')
    await app.untilLogged('begins /later')
    const stopping = app.running.stop()
    assert.equal((await connection.answer())?.status, 200)
    await stopping
    assert.deepEqual(
      app.running.workers.map(({ state }) => state),
      ['stopped'],
    )
  })
}

test('a process has its folder as working directory, its own variables and no IPC channel', async () => {
  const services = { any: { file, run: 'process', env: { COLOUR: 'red' } } } as const
  await using app = await TestApp.start({ services })
  using connection = await Connection.open(app.port)
  connection.send('/process')
  const { cwd, colour, send, pid } = JSON.parse((await connection.answer())!.body) as Record<string, unknown>
  assert.deepEqual([cwd, colour, send], [`${dirname(import.meta.dirname)}/programs`, 'red', 'undefined'])
  assert.equal(pid, app.running.workers[0]!.pid)
  assert.notEqual(pid, process.pid)
})

test('a process gets its Node flags, and its output has the name of its service', async () => {
  const services = { any: { file, run: 'process', nodeOptions: ['--stack-trace-limit=3'] } } as const
  await using app = await TestApp.start({ services })
  using connection = await Connection.open(app.port)
  connection.send('/flags')
  const flags = JSON.parse((await connection.answer())!.body) as string[]
  assert.ok(flags.includes('--stack-trace-limit=3'))
  await app.untilLogged('begins /flags')
  assert.equal(app.log.find(({ line }) => line === 'begins /flags')?.service, 'any')
})

test('a process with permissions reads the app, and neither reads nor writes elsewhere', async () => {
  // The flags of the test process are inherited, and refer to files elsewhere.
  const permissions = { read: [fileURLToPath(new URL('../../../../../', import.meta.url))], write: [], allow: [] }
  const services = { any: { file, run: 'process', permissions } } as const
  await using app = await TestApp.start({ root: `${dirname(import.meta.dirname)}/programs`, services })
  for (const [path, allowed] of [
    [file, true],
    ['/etc/hostname', false],
  ] as const) {
    using connection = await Connection.open(app.port)
    connection.send(`/may-read?file=${path}`)
    assert.equal((await connection.answer())?.body, JSON.stringify(allowed))
  }
})

/** Ways for a program to end its process, and the expected exit. */
const ways = {
  '/exit': 'exit',
  '/throw': 'exception',
  '/reject': 'rejection',
  '/abort': 'signal',
  '/loop': 'stuck',
  '/wait': 'stuck',
  '/memory': 'memory',
} as const

for (const [path, why] of Object.entries(ways))
  test(`a process that ends by ${path} is replaced, and no other request fails`, async () => {
    const timing = { stuck: 6000, watch: 100 }
    await using app = await TestApp.start(two({ memory: 256 * megabyte }), { timing })
    await assertReplaced(app, (victim) => victim.send(path), why)
  })

for (const [signal, why] of [
  ['SIGKILL', 'signal'],
  ['SIGABRT', 'signal'],
  ['SIGSTOP', 'stuck'],
] as const)
  test(`a process that gets ${signal} during a call is replaced, and no other request fails`, async () => {
    await using app = await TestApp.start(two({}), { timing: { stuck: 6000, watch: 100 } })
    await assertReplaced(
      app,
      async (victim, pid) => {
        victim.send('/never')
        await app.untilLogged('begins /never')
        process.kill(pid, signal)
      },
      why,
    )
  })

test('connections on their way to a suspended process go to another one', async () => {
  await using app = await TestApp.start(two({}), { timing: { stuck: 6000, watch: 100 } })
  const stopped = app.running.workers[0]!.pid!
  process.kill(stopped, 'SIGSTOP')
  using connections = await openMany(app.port, 6)
  const pids = await Promise.all(connections.map((connection) => pidOf(connection)))
  assert.ok(pids.every((pid) => pid !== undefined && pid !== stopped))
})

test('connections on their way to the only process wait for its replacement if it dies', async () => {
  await using app = await TestApp.start({ services: { any: { file, run: 'process' } } })
  const dead = app.running.workers[0]!.pid!
  process.kill(dead, 'SIGSTOP')
  using connections = await openMany(app.port, 5)
  const pids = connections.map((connection) => pidOf(connection))
  await pollUntil(() => app.running.workers[0]!.connections === 5)
  process.kill(dead, 'SIGKILL')
  assert.deepEqual(new Set(await Promise.all(pids)), new Set([app.running.workers[0]!.pid]))
  assert.notEqual(app.running.workers[0]!.pid, dead)
})

test('a process that blocks while it starts fails the start', async () => {
  const blocks = {
    file: `${dirname(import.meta.dirname)}/programs/blocks.js`,
    run: 'process',
    startTimeout: 500,
  } as const
  await assert.rejects(TestApp.start({ services: { blocks } }, { timing: { watch: 50 } }), {
    code: 'PROGRAM_START_TIMEOUT',
  })
})

test('a process that is killed while it starts fails the start with the cause', async () => {
  using folder = new TestFolder({ 'index.js': `console.log(process.pid); setInterval(() => {}, 1000)` })
  const app = appOf({ services: { waits: { file: folder.at('index.js'), run: 'process' } } })
  const log = ({ stream, line }: AppLogRecord): void => {
    if (stream === 'stdout') process.kill(Number(line), 'SIGKILL')
  }
  await assert.rejects(startSupervisor(app, { mode: 'start', log }), { code: 'WORKER_DIED', message: /waits.*SIGKILL/ })
})

test('a process that is killed while it drains does not hold up the stop', async () => {
  await using app = await TestApp.start({ services: { any: { file, run: 'process' } }, stopTimeout: 20_000 })
  using connection = await Connection.open(app.port)
  connection.send('/never')
  await app.untilLogged('begins /never')
  const { pid } = app.running.workers[0]!
  const stopping = app.running.stop()
  await app.until(() => app.running.workers[0]!.state === 'draining')
  process.kill(pid!, 'SIGKILL')
  await stopping
  assert.equal(await connection.answer(), undefined)
})

test('a process has the loader of its start script', async () => {
  const own = fileURLToPath(new URL('../../worker/sandbox/programs/own-loader/', import.meta.url))
  const entry = {
    file: `${own}index.ts`,
    args: [],
    nodeOptions: ['--import', './register.js'],
    foundBy: 'scripts.start',
  }
  await using app = await TestApp.start({ services: { own: { file: entry.file, entry, run: 'process' } } })
  assert.deepEqual(await (await fetch(app.url, { headers: { connection: 'close' } })).json(), {
    size: 'small',
    colour: 'red',
  })
})

test('a process that is suspended while it drains is killed in time', async () => {
  await using app = await TestApp.start({ ...two({}), stopTimeout: 1000 })
  const { pid } = app.running.workers[0]!
  process.kill(pid!, 'SIGSTOP')
  await app.running.stop()
  assert.throws(() => process.kill(pid!, 0), { code: 'ESRCH' })
})

test('a restart replaces processes one after the other without losing a request', async () => {
  await using app = await TestApp.start(two({}))
  const before = new Set(app.running.workers.map(({ pid }) => pid))
  using connections = await openMany(app.port, 4)
  for (const connection of connections) connection.send('/later?ms=300')
  await app.untilLogged('begins /later')
  const restarting = app.running.replace()
  const answers = await Promise.all(connections.map((connection) => connection.answer()))
  assert.ok(answers.every((answer) => answer?.status === 200))
  await restarting
  const after = app.running.workers.map(({ pid }) => pid)
  assert.ok(after.every((pid) => pid !== undefined && !before.has(pid)))
})

test(
  'a signal that the system sends to a process is for the handlers of its program',
  { skip: process.platform === 'win32' },
  async () => {
    using folder = new TestFolder({
      'index.js': `
        process.on('SIGUSR2', (name, number) => console.log('heard ' + (name === 'SIGUSR2') + (number > 0)))
        process.once('SIGWINCH', () => console.log('once ' + process.listenerCount('SIGWINCH')))
        require('node:http').createServer((request, response) => response.end(String(process.pid))).listen(0)`,
    })
    await using app = await TestApp.start({ services: { it: { file: folder.at('index.js'), run: 'process' } } })
    const pid = Number(await (await fetch(app.url, { headers: { connection: 'close' } })).text())
    process.kill(pid, 'SIGWINCH')
    await app.untilLogged('once 0')
    process.kill(pid, 'SIGUSR2')
    await app.untilLogged('heard truetrue')
    assert.equal(app.running.workers[0]!.deaths, 0)
  },
)

function two(more: object): AppSetup {
  return { services: { any: { file, run: 'process', instances: 2, ...more } } }
}

/** One process is ended by `end` while both have requests in flight. */
async function assertReplaced(
  app: TestApp,
  end: (victim: Connection, pid: number) => unknown,
  why: string,
): Promise<void> {
  using connections = await openMany(app.port, 8)
  const pids = await Promise.all(connections.map((connection) => pidOf(connection)))
  const [victim] = connections
  const others = connections.filter((_, index) => pids[index] !== pids[0])
  assert.equal(others.length, 4)
  for (const connection of others) connection.send('/later?ms=30')
  await end(victim!, pids[0]!)
  assert.equal(await victim!.answer(), undefined)
  const answers = await Promise.all(others.map((connection) => connection.answer()))
  assert.ok(answers.every((answer) => answer?.status === 200))
  await app.until(() => app.running.workers.some(({ deaths, state }) => deaths === 1 && state === 'serving'))
  const dead = app.running.workers.find(({ deaths }) => deaths === 1)!
  assert.equal(dead.lastExit?.why, why)
  assert.ok(app.log.some(({ line }) => line.startsWith(`worker ${dead.worker} (${dead.name}) died: `)))
  using later = await openMany(app.port, 4)
  const served = await Promise.all(later.map((connection) => pidOf(connection)))
  assert.ok(served.every((pid) => pid !== undefined && pid !== pids[0]))
}

async function pidOf(connection: Connection): Promise<number | undefined> {
  connection.send('/process')
  const answer = await connection.answer()
  return answer && (JSON.parse(answer.body) as { pid: number }).pid
}
