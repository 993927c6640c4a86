import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { BusbarError } from '../../src/contract/errors.ts'
import { RecentLog } from '../../src/observe/recent-log.ts'
import { toEntry } from '../../src/observe/log-entry.ts'
import { AdminClient } from '../../src/supervisor/admin/api-client.ts'
import { findSockets } from '../../src/supervisor/admin/admin-socket.ts'
import { getReady, getStatus, stopApp } from '../../src/supervisor/admin/operations/app.ts'
import { reloadApp } from '../../src/supervisor/admin/operations/changes.ts'
import { describeApp, getEnvironment } from '../../src/supervisor/admin/operations/describe.ts'
import { evaluateCode } from '../../src/supervisor/admin/operations/diagnostics.ts'
import { readLogs } from '../../src/supervisor/admin/operations/logs.ts'
import { operations } from '../../src/supervisor/admin/operations/table.ts'
import { appOf, type AppSetup, pollUntil, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const any = `${import.meta.dirname}/programs/any.js`

test('a change that is asked for during the start waits for its end', async () => {
  using folder = new TestFolder()
  const setup = appOf({ services: { late: `${import.meta.dirname}/programs/late.js` } })
  const starting = TestApp.startLoaded(setup, { adminFolder: folder.path, load: async () => setup })
  await pollUntil(() => findSockets(folder.path, setup.root).length === 1)
  const reloaded = new AdminClient(findSockets(folder.path, setup.root)[0]!.path).json(reloadApp, {})
  await using app = await starting
  const { generation, replaced } = await reloaded
  assert.deepEqual([generation, replaced], [2, 1])
  assert.equal((await fetch(app.url)).status, 200)
})

/** An app with an admin socket of its own. */
class AdminApp implements AsyncDisposable {
  readonly app: TestApp
  readonly admin: AdminClient
  readonly #folder: TestFolder

  private constructor(app: TestApp, folder: TestFolder) {
    this.app = app
    this.#folder = folder
    this.admin = new AdminClient(findSockets(folder.path, app.running.app.root)[0]!.path)
  }

  static async start(
    setup: AppSetup = { services: { any } },
    options: Parameters<typeof TestApp.start>[1] = {},
  ): Promise<AdminApp> {
    const folder = new TestFolder()
    return new AdminApp(await TestApp.start(setup, { adminFolder: folder.path, ...options }), folder)
  }

  async ask(
    method: string,
    path: string,
    body?: string,
  ): Promise<{ status: number; type: string; body: string; headers: IncomingMessage['headers'] }> {
    const sent = request({ socketPath: this.admin.socketPath, method, path, headers: { connection: 'close' } }).end(
      body,
    )
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const { statusCode, headers } = response
    return { status: statusCode!, type: headers['content-type'] ?? '', body: await text(response), headers }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}

describe('the admin API', () => {
  test('describes all of its operations in a valid OpenAPI document', async () => {
    await using app = await AdminApp.start()
    const { status, body } = await app.ask('GET', '/openapi.json')
    assert.equal(status, 200)
    const document = JSON.parse(body) as { paths: Record<string, Record<string, { operationId: string }>> }
    const { valid, errors } = await new Validator().validate(document)
    assert.ok(valid, JSON.stringify(errors))
    const described = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    )
    assert.deepEqual(new Set(described), new Set(operations.map(({ name }) => name)))
    assert.equal(described.length, operations.length)
  })

  test('is the one that the reference lists', async () => {
    const reference = await readFile(new URL('../../../../docs/reference/admin-api.md', import.meta.url), 'utf8')
    const rows = [...reference.matchAll(/^\| `(GET|POST)` +\| `(\/\S*)` +\|/gm)].map(
      ([, method, path]) => `${method} ${path}`,
    )
    assert.deepEqual(
      rows,
      operations.map(({ method, path }) => `${method} ${path}`),
    )
  })

  test('answers what its schemas say', async () => {
    await using app = await AdminApp.start({ services: { any, secret: { file: any, env: { API_KEY: 'hidden' } } } })
    getStatus.output.parse(await app.admin.json(getStatus, {}))
    getReady.output.parse(await app.admin.json(getReady, {}))
    describeApp.output.parse(await app.admin.json(describeApp, {}))
  })

  test('answers an unknown path, a wrong method and a wrong parameter with a problem document', async () => {
    await using app = await AdminApp.start()
    const answers = [
      await app.ask('GET', '/nothing'),
      await app.ask('POST', '/status'),
      await app.ask('GET', '/env?servce=any'),
      await app.ask('GET', '/env?service=ayn'),
      await app.ask('POST', '/stop', '[]'),
      await app.ask('POST', '/services/any/scale', '{"instances":1025}'),
      await app.ask('POST', '/services/any/scale', '{"instances":"+1024"}'),
      await app.ask('POST', '/services/any/move', '{"run":"thread","instances":1025}'),
      await app.ask('POST', '/services/any/inject', '{"method":"CONNECT","path":"/"}'),
    ]
    assert.deepEqual(
      answers.map(({ status, type, body }) => [status, type, (JSON.parse(body) as { code: string }).code]),
      [
        [404, 'application/problem+json', 'ROUTE_NOT_FOUND'],
        [405, 'application/problem+json', 'METHOD_NOT_ALLOWED'],
        [422, 'application/problem+json', 'INPUT_INVALID'],
        [404, 'application/problem+json', 'SERVICE_UNKNOWN'],
        [400, 'application/problem+json', 'REQUEST_MALFORMED'],
        ...Array.from({ length: 4 }, () => [422, 'application/problem+json', 'INPUT_INVALID']),
      ],
    )
    assert.equal(answers[1]!.headers.allow, 'GET, HEAD')
    assert.match(answers[2]!.body, /servce/)
    assert.match(answers[3]!.body, /the nearest are any/)
  })

  test('answers HEAD without a body', async () => {
    await using app = await AdminApp.start()
    const { status, body } = await app.ask('HEAD', '/status')
    assert.deepEqual([status, body], [200, ''])
  })

  test('refuses a body that is too large', async () => {
    await using app = await AdminApp.start()
    const { status } = await app.ask('POST', '/stop', JSON.stringify({ text: 'x'.repeat(9 * 1024 ** 2) }))
    assert.equal(status, 413)
  })

  test('stops the app after it has answered', async () => {
    await using app = await AdminApp.start()
    const { pid } = await app.admin.json(stopApp, {})
    assert.equal(pid, process.pid)
    assert.deepEqual(await app.app.running.ended, { why: 'stopped' })
    await assert.rejects(app.admin.json(getStatus, {}), (error) => BusbarError.is(error, 'APP_NOT_RUNNING'))
  })

  test('answers what is under way at the end that the app has ended', async () => {
    await using app = await AdminApp.start()
    const asked = app.ask('GET', '/slow-parts?seconds=600')
    // Connections are accepted in order: the request has been read before this answer.
    assert.equal((await app.ask('GET', '/status')).status, 200)
    await app.app.running.stop()
    const { status, body } = await asked
    assert.deepEqual([status, (JSON.parse(body) as { code: string }).code], [503, 'APP_NOT_RUNNING'])
  })

  test('leaves a stop to the command that runs the app', async () => {
    let requested = 0
    await using app = await AdminApp.start(undefined, { requestStop: () => requested++ })
    await app.admin.json(stopApp, {})
    assert.equal(requested, 1)
    assert.equal((await app.admin.json(getReady, {})).ready, true)
  })
})

describe('the admin port', () => {
  test('runs no code, whoever has the token', async () => {
    const token = 'a token for this test'
    await using app = await AdminApp.start({ services: { any }, admin: { host: '127.0.0.1', port: 0, token } })
    const url = app.app.running.adminUrls.find((one) => one.startsWith('http'))!
    const response = await fetch(`${url}/services/any/evaluate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ code: '1 + 1' }),
    })
    assert.equal(response.status, 403)
    assert.equal(((await response.json()) as { code: string }).code, 'FORBIDDEN')
    assert.deepEqual(await app.admin.json(evaluateCode, { service: 'any', code: '1 + 1' }), {
      ok: true,
      text: '2',
      isIncomplete: false,
    })
  })
})

describe('the environment that the admin API shows', () => {
  const env = {
    PLAIN: 'shown',
    API_KEY: 'hidden-1',
    DB_PASSWORD: 'hidden-2',
    DATABASE_URL: 'postgres://shop:hidden-3@db:5432/shop?sslmode=require&token=hidden-4',
    SIGNED: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.hidden-5',
  }

  test('has no secrets', async () => {
    await using app = await AdminApp.start({ services: { any: { file: any, env } } })
    const { services } = await app.admin.json(getEnvironment, { service: 'any' })
    assert.deepEqual(services['any'], {
      API_KEY: '[redacted]',
      DATABASE_URL: 'postgres://shop:[redacted]@db:5432/shop?sslmode=require&token=[redacted]',
      DB_PASSWORD: '[redacted]',
      PLAIN: 'shown',
      SIGNED: '[redacted]',
    })
    const described = JSON.stringify(await app.admin.json(describeApp, {}))
    assert.ok(!described.includes('hidden'))
    const { services: all } = await app.admin.json(getEnvironment, { all: 'true' })
    assert.equal(all['any']!['PATH'], process.env['PATH'])
  })
})

describe('the recent log', () => {
  const record = (line: string, level: 'info' | 'error' = 'info') =>
    ({ time: Date.now(), level, service: 'any', stream: 'busbar', line }) as const

  test('is read by service, level and number, and followed', async () => {
    const recentLog = new RecentLog()
    for (let line = 0; line < 20; line++) recentLog.add(toEntry(record(`line ${line}`, line % 2 ? 'error' : 'info'), 0))
    await using app = await AdminApp.start(undefined, { recentLog })
    const lines: string[] = []
    const input = { service: 'any', level: 'error', limit: 3, follow: 'true' } as const
    for await (const line of app.admin.lines(readLogs, input)) {
      lines.push((JSON.parse(line) as { msg: string }).msg)
      if (lines.length === 3) recentLog.add(toEntry(record('the next', 'error'), 0))
      if (lines.length === 4) break
    }
    assert.deepEqual(lines, ['line 15', 'line 17', 'line 19', 'the next'])
  })

  test('keeps the last lines, within its bounds', async () => {
    const signal = new AbortController().signal
    const few = new RecentLog({ entries: 3 })
    const small = new RecentLog({ bytes: 1000 })
    for (let line = 0; line < 10; line++) {
      few.add(toEntry(record(`${line}`), 0))
      small.add(toEntry(record(`${line}`.repeat(300)), 0))
    }
    const read = async (log: RecentLog): Promise<string[]> => {
      const starts: string[] = []
      for await (const line of log.read({ limit: 100, follow: false, signal }))
        starts.push((JSON.parse(line) as { msg: string }).msg[0]!)
      return starts
    }
    assert.deepEqual(await read(few), ['7', '8', '9'])
    assert.deepEqual(await read(small), ['8', '9'])
  })

  test('drops lines for a reader that is too slow, and says so', async () => {
    const log = new RecentLog()
    const gone = new AbortController()
    const lines = log.read({ limit: 0, follow: true, signal: gone.signal })
    const first = lines.next()
    for (let line = 0; line < 10_010; line++) log.add(toEntry(record(`${line}`), 0))
    const read = [(await first).value as string]
    for (let count = 1; count < 10_001; count++) read.push((await lines.next()).value as string)
    assert.match(read[0]!, /10 log lines are not shown/)
    gone.abort()
    assert.equal((await lines.next()).done, true)
  })
})
