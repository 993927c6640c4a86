import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { findSockets } from '../../../src/supervisor/admin/admin-socket.ts'
import { freePort } from '../../support/http/free-ports.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { ChangingApp } from './changing-app.ts'

const listens = `
import { createServer } from 'node:http'
createServer((request, response) => response.end('served')).listen(process.env.PORT)`

const command = { command: `${process.execPath} listens.mjs`, path: '.' }

interface Problem {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly hint?: string
}

/** An app that the test asks on its admin socket. */
class AskedApp implements AsyncDisposable {
  readonly app: ChangingApp
  readonly #folder: TestFolder

  private constructor(app: ChangingApp, folder: TestFolder) {
    this.app = app
    this.#folder = folder
  }

  static async start(services: object, rest: object = {}): Promise<AskedApp> {
    const folder = new TestFolder()
    const app = await ChangingApp.start(services, rest, { adminFolder: folder.path }, { 'listens.mjs': listens })
    return new AskedApp(app, folder)
  }

  async post(path: string, input: object = {}): Promise<Problem> {
    const { path: socketPath } = findSockets(this.#folder.path, this.app.app.running.app.root)[0]!
    const sent = request({ socketPath, method: 'POST', path, headers: { connection: 'close' } })
    sent.end(JSON.stringify(input))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const problem = (await json(response)) as Problem
    assert.equal(response.statusCode, problem.status)
    return problem
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}

function assertUnsupported({ status, code, detail }: Problem, why: RegExp): void {
  assert.deepEqual([status, code], [409, 'OPERATION_UNSUPPORTED'], detail)
  assert.match(detail, why)
}

describe('an operation that is not possible for a service is the mistake of its client', () => {
  test('a command cannot move', async () => {
    await using app = await AskedApp.start({ web: { run: 'thread' }, pages: command })
    for (const run of ['shared', 'thread']) {
      const problem = await app.post('/services/pages/move', { run })
      assertUnsupported(problem, /'pages' is a command, which runs as a process/)
      assert.match(problem.hint!, /path is a Node program/)
    }
    const { added, replaced, removed } = await app.app.app.running.move('pages', { run: 'process' })
    assert.deepEqual([added, replaced, removed], [0, 0, 0])
  })

  test('a placement that the config forbids', async () => {
    const port = await freePort()
    const services = {
      web: { run: 'thread' },
      one: { ...command, port, env: { PORT: String(port) } },
      limited: { run: 'thread', concurrency: 1 },
      spare: { run: 'thread', spare: true },
      grouped: { run: 'thread', group: 'checkout' },
    }
    await using app = await AskedApp.start(services)
    assertUnsupported(await app.post('/services/one/scale', { instances: 2 }), /services\.one\.port/)
    assertUnsupported(await app.post('/services/limited/move', { run: 'shared' }), /services\.limited\.concurrency/)
    assertUnsupported(await app.post('/services/grouped/move', { run: 'process' }), /services\.grouped\.group/)
    assertUnsupported(await app.post('/services/spare/scale', { instances: 1000 }), /1024 are allowed/)
    const moves = [{ service: 'limited', run: 'shared' }]
    await assert.rejects(app.app.app.running.moveTogether(moves as never), { code: 'OPERATION_UNSUPPORTED' })
    app.app.write({ ...services, web: { run: 'nowhere' } })
    const broken = await app.post('/services/web/scale', { instances: 2 })
    assert.deepEqual([broken.status, broken.code], [500, 'CONFIG_INVALID'])
  })

  test('the owner of the queue has one place', async () => {
    await using app = await AskedApp.start({ web: { run: 'thread' } }, { queues: { file: 'queue.db' } })
    assertUnsupported(await app.post('/services/busbar-queue/move', { run: 'process' }), /owns the queue/)
    assertUnsupported(await app.post('/services/busbar-queue/scale', { instances: 2 }), /owns the queue/)
  })

  test('an instance that no service has', async () => {
    await using app = await AskedApp.start({ web: { run: 'thread' } })
    const { status, code, detail } = await app.post('/services/web/heap-snapshot', { instance: 7 })
    assert.deepEqual([status, code, detail], [422, 'INPUT_INVALID', "'web' has no instance 7"])
  })

  test('a process whose permissions do not allow it', async () => {
    await using app = await AskedApp.start({ web: { run: 'thread' }, strict: { run: 'process', permissions: {} } })
    const asked: Readonly<Record<string, object>> = {
      'heap-snapshot': {},
      profile: { seconds: 0.1 },
      evaluate: { code: '1' },
    }
    for (const [operation, input] of Object.entries(asked))
      assertUnsupported(await app.post(`/services/strict/${operation}`, input), /permissions/)
  })

  test('a restart of an app that a program has started', async () => {
    await using app = await AskedApp.start({ web: { run: 'thread' } })
    assertUnsupported(await app.post('/restart'), /cannot restart it/)
  })
})
