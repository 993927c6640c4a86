import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { connect as connectTcp, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { connect } from 'node:tls'
import { BusbarError } from '../../src/contract/errors.ts'
import type { AppStatus, WorkerStats } from '../../src/observe/app-status.ts'
import { askStatus } from '../../src/supervisor/admin/api-client.ts'
import {
  claimSocket,
  findSockets,
  listSockets,
  runtimeFolder,
  runtimeFolders,
} from '../../src/supervisor/admin/admin-socket.ts'
import { pollUntil, TestApp } from '../support/app/test-app.ts'
import { Connection } from '../support/http/raw-connection.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { parseMetrics } from '../support/app/prometheus.ts'

const any = `${import.meta.dirname}/programs/any.js`
const token = 'a token for this test'

describe('the admin socket', () => {
  test('answers with the status, and only its user can open the folder and the socket', async () => {
    using folder = new TestFolder({})
    const adminFolder = folder.at('run')
    await using app = await TestApp.start({ services: { any }, workers: 2 }, { adminFolder })
    const [found] = findSockets(adminFolder, app.running.app.root)
    assert.deepEqual(app.running.adminUrls, [`unix:${found!.path}`])
    assert.equal(found!.pid, process.pid)
    assert.deepEqual([statSync(adminFolder).mode & 0o777, statSync(found!.path).mode & 0o777], [0o700, 0o600])
    const { workers, instances } = await askStatus(found!.path)
    assert.deepEqual(
      workers.map(({ name, kind, state, restarts }) => [name, kind, state, restarts]),
      [
        ['shared 0', 'shared', 'serving', 0],
        ['shared 1', 'shared', 'serving', 0],
      ],
    )
    assert.deepEqual(
      instances.map(({ service, instance, worker }) => [service, instance, worker]),
      [
        ['any', 0, 0],
        ['any', 1, 1],
      ],
    )
  })

  test('is removed with the app; each run of an app has its own', async () => {
    using folder = new TestFolder({})
    const paths = (): string[] => readdirSync(folder.path)
    {
      await using first = await TestApp.start({ services: { any } }, { adminFolder: folder.path })
      await using second = await TestApp.start({ services: { any } }, { adminFolder: folder.path })
      const { root } = first.running.app
      assert.equal(second.running.app.root, root)
      assert.equal(findSockets(folder.path, root).length, 2)
    }
    assert.deepEqual(paths(), [])
  })

  test('the next app removes the socket of a killed process', async () => {
    using folder = new TestFolder({})
    const path = await claimSocket(folder.path, '/shop')
    // No process has this ID: it is above the maximum of Linux.
    const stale = path.replace(`-${process.pid}-`, '-4194305-')
    writeFileSync(stale, '')
    const other = folder.at('notes.txt')
    writeFileSync(other, '')
    await claimSocket(folder.path, '/other')
    assert.deepEqual(readdirSync(folder.path), ['notes.txt'])
  })

  test('an app whose socket cannot be opened runs without it, with a warning', async () => {
    using folder = new TestFolder({})
    const adminFolder = folder.at('x'.repeat(100))
    await using app = await TestApp.start({ services: { any } }, { adminFolder })
    assert.deepEqual(app.running.adminUrls, [])
    assert.ok(app.log.some(({ level, line }) => level === 'warn' && line.includes('busbar ps cannot see this app')))
  })

  test('is in the runtime folder of the user, or else among the temporary files', () => {
    if (process.platform === 'win32') return
    assert.equal(runtimeFolder({ XDG_RUNTIME_DIR: '/run/user/7' }), '/run/user/7/busbar')
    assert.match(runtimeFolder({}), new RegExp(`/busbar-${process.getuid!()}$`))
    const usual = `/run/user/${process.getuid!()}`
    const both = [`${usual}/busbar`, runtimeFolder({})]
    assert.deepEqual([runtimeFolders({}), runtimeFolders({ XDG_RUNTIME_DIR: `${usual}/` })], [both, both])
    assert.deepEqual(runtimeFolders({ XDG_RUNTIME_DIR: '/run/other' }), ['/run/other/busbar'])
  })

  test('a socket on which somebody listens stays, although its process cannot be seen', async () => {
    using folder = new TestFolder({})
    const path = (await claimSocket(folder.path, '/shop')).replace(`-${process.pid}-`, '-4194305-')
    const server = createServer().listen(path)
    await once(server, 'listening')
    await claimSocket(folder.path, '/other')
    assert.equal((await listSockets(folder.path)).length, 1)
    server.close()
  })

  test('a folder behind a symbolic link is not looked into: somebody else may have made it', async () => {
    using folder = new TestFolder({})
    const server = createServer().listen(await claimSocket(folder.at('real'), '/shop'))
    await once(server, 'listening')
    symlinkSync(folder.at('real'), folder.at('run'))
    assert.deepEqual(await listSockets(folder.at('run')), [])
    await assert.rejects(claimSocket(folder.at('run'), '/shop'), { code: 'ADMIN_UNAVAILABLE' })
    server.close()
  })

  test('a folder that others can enter is made private', async () => {
    using folder = new TestFolder({})
    mkdirSync(folder.at('run'), { mode: 0o755 })
    await claimSocket(folder.at('run'), '/shop')
    assert.equal(statSync(folder.at('run')).mode & 0o777, 0o700)
  })
})

describe('the admin port', () => {
  const admin = { host: '127.0.0.1', port: 0, token }

  test('answers only requests with the token', async () => {
    await using app = await TestApp.start({ services: { any }, admin })
    const url = app.running.adminUrls[0]!
    for (const authorization of [undefined, 'Bearer wrong', `Basic ${token}`, `Bearer ${token}x`, 'Bearer'])
      assert.equal(
        (await ask(url, '/metrics', authorization === undefined ? {} : { authorization })).status,
        401,
        authorization,
      )
    // RFC 9110: the scheme is case-insensitive.
    assert.equal((await ask(url, '/metrics', { authorization: `bEARER ${token}` })).status, 200)
    const { status, type, body } = await ask(url, '/metrics', { authorization: `Bearer ${token}` })
    assert.deepEqual([status, type], [200, 'text/plain; version=0.0.4; charset=utf-8'])
    assert.ok(parseMetrics(body).has('busbar_calls_total'))
  })

  test('serves OpenMetrics to a client that accepts it', async () => {
    await using app = await TestApp.start({ services: { any }, admin })
    const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5'
    const headers = { authorization: `Bearer ${token}`, accept }
    const { type, body } = await ask(app.running.adminUrls[0]!, '/metrics', headers)
    assert.equal(type, 'application/openmetrics-text; version=1.0.0; charset=utf-8')
    assert.match(body, /# TYPE busbar_calls counter\nbusbar_calls_total\{/)
    assert.ok(body.endsWith('# EOF\n'))
    for (const refused of ['application/openmetrics-text;q=0', 'application/openmetrics-text; Q=0.000, text/plain']) {
      const { type } = await ask(app.running.adminUrls[0]!, '/metrics', { ...headers, accept: refused })
      assert.equal(type, 'text/plain; version=0.0.4; charset=utf-8', refused)
    }
  })

  test('refuses a request with several Host fields', async () => {
    await using app = await TestApp.start({ services: { any }, admin })
    const { hostname, port } = new URL(app.running.adminUrls[0]!)
    const socket = connectTcp(Number(port), hostname)
    const fields = ['Host: localhost', 'Host: evil.example', `Authorization: Bearer ${token}`, 'Connection: close']
    socket.write(`GET /status HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`)
    assert.match(await text(socket), /^HTTP\/1\.1 400 .*application\/problem\+json.*"code":"REQUEST_MALFORMED"/s)
  })

  test('serves /metrics and /status, by GET only', async () => {
    await using app = await TestApp.start({ services: { any }, admin })
    const url = app.running.adminUrls[0]!
    const headers = { authorization: `Bearer ${token}` }
    const state = await ask(url, '/status?x=1', headers)
    assert.equal((JSON.parse(state.body) as AppStatus).app.pid, process.pid)
    assert.equal((await ask(url, '/nothing', headers)).status, 404)
    assert.equal((await ask(url, '/status', headers, 'POST')).status, 405)
  })

  test('fails the start if it is in use', async () => {
    await using app = await TestApp.start({ services: { any }, admin })
    const port = Number(new URL(app.running.adminUrls[0]!).port)
    await assert.rejects(TestApp.start({ services: { any }, admin: { ...admin, port } }), (error) =>
      BusbarError.is(error, 'ADMIN_UNAVAILABLE'),
    )
  })
})

describe('the status', () => {
  test('counts calls from outside by instance, with their latency', async () => {
    await using app = await TestApp.start({ services: { any } })
    using connection = await Connection.open(app.port)
    for (let call = 0; call < 5; call++) await connection.thread()
    // The caller gets the response slightly before the service and the gateway have counted it.
    await pollUntil(() => {
      const { instances, calls } = app.running.status()
      return instances[0]!.inFlight === 0 && calls[0]?.count === 5
    })
    const { instances, calls } = app.running.status()
    assert.deepEqual(
      instances.map(({ calls, failures, inFlight }) => [calls, failures, inFlight]),
      [[5, 0, 0]],
    )
    assert.deepEqual(
      calls.map(({ caller, callee, count }) => [caller, callee, count]),
      [['', 'any', 5]],
    )
    assert.equal(calls[0]!.buckets.at(-1)!.count, 5)
  })

  for (const run of ['shared', 'process'] as const)
    test(`counts calls from outside to a TLS server (${run})`, async () => {
      const file = `${import.meta.dirname}/../worker/sandbox/programs/https/index.mjs`
      await using app = await TestApp.start({ services: { secure: { file, run } } })
      const socket = connect({ port: app.port, rejectUnauthorized: false })
      socket.write('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      const answers = await text(socket)
      assert.equal(answers.match(/HTTP\/1\.1 200/g)?.length, 2)
      const counts = (): number[] =>
        app.running.status().instances.flatMap(({ calls, failures, inFlight }) => [calls, failures, inFlight])
      await pollUntil(() => counts().join() === '2,0,0', counts)
    })

  test('shows a blocked worker at once, without asking it', async () => {
    using folder = new TestFolder({})
    await using app = await TestApp.start({ services: { any }, workers: 2 }, { adminFolder: folder.path })
    using connection = await Connection.open(app.port)
    connection.send(`/busy?until=${folder.at('enough')}`)
    const [socket] = findSockets(folder.path, app.running.app.root)
    const blocked = (): number => app.running.status().workers.filter(({ state }) => state === 'blocked').length
    const isBusyBlocked = (): boolean => {
      const { workers, instances } = app.running.status()
      const busy = instances.find(({ inFlight }) => inFlight === 1)
      return workers.some(({ worker, state }) => worker === busy?.worker && state === 'blocked')
    }
    await pollUntil(isBusyBlocked)
    const { workers, instances } = await askStatus(socket!.path)
    // On a busy machine the other worker may look blocked, too.
    const busy = instances.find(({ inFlight }) => inFlight === 1)!
    const worker = workers.find((one) => one.worker === busy.worker)!
    assert.equal(worker.state, 'blocked')
    assert.ok(worker.silentFor! > 1000)
    assert.equal(worker.eventLoopUtilization, 1)
    writeFileSync(folder.at('enough'), '')
    assert.equal((await connection.answer())?.status, 200)
    await pollUntil(() => blocked() === 0)
  })

  test("shows a suspended process, with the system's own values", async () => {
    await using app = await TestApp.start({ services: { web: any, any: { file: any, run: 'process' } } })
    const process_ = (): WorkerStats => app.running.status().workers.find(({ kind }) => kind === 'process')!
    const { pid } = process_()
    assert.ok(pid !== null && pid !== process.pid)
    process.kill(pid, 'SIGSTOP')
    await pollUntil(() => process_().state === 'blocked')
    assert.ok(process_().memory! > 10_000_000)
    assert.ok(process_().cpuTime! > 0)
    process.kill(pid, 'SIGCONT')
    await pollUntil(() => process_().state === 'serving')
  })

  test('shows why a worker died, and keeps counting', async () => {
    await using app = await TestApp.start({ services: { any } })
    using lost = await Connection.open(app.port)
    await lost.thread()
    lost.send('/throw')
    assert.equal(await lost.answer(), undefined)
    await app.untilReplaced(0)
    using connection = await Connection.open(app.port)
    await connection.thread()
    const { workers, instances } = app.running.status()
    assert.equal(workers[0]!.restarts, 1)
    assert.equal(workers[0]!.lastExit!.why, 'exception')
    assert.equal(instances[0]!.calls, 3)
  })
})

interface AdminResponse {
  readonly status: number
  readonly type: string | undefined
  readonly body: string
}

async function ask(
  base: string,
  path: string,
  headers: Record<string, string> | undefined,
  method = 'GET',
): Promise<AdminResponse> {
  const call = request(base + path, { method, headers: { ...headers, connection: 'close' } })
  const [answer] = (await once(call.end(), 'response')) as [IncomingMessage]
  return { status: answer.statusCode!, type: answer.headers['content-type'], body: await text(answer) }
}
