import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { createLog } from '../../../src/observe/log.ts'
import type { AppLogRecord, RunningApp } from '../../../src/supervisor/running-app.ts'
import { startSupervisor } from '../../../src/supervisor/supervisor.ts'
import { type AppSetup, appOf } from '../../support/app/test-app.ts'

const folder = `${import.meta.dirname}/programs`
const file = `${folder}/floods.js`
const web = { file: `${dirname(import.meta.dirname)}/programs/any.js`, run: 'thread' } as const

const command = { kind: 'command', run: 'process', path: folder } as const
const entry = { file: process.execPath, args: ['floods.js'], nodeOptions: [], foundBy: 'command' }

const placements: Readonly<Record<string, AppSetup['services'][string]>> = {
  thread: { file, run: 'thread' },
  process: { file, run: 'process' },
  command: { file, ...command, entry },
}

for (const [name, floods] of Object.entries(placements))
  test(`while a ${name} floods its output, other services answer, and no line is lost`, async () => {
    await using app = await FloodedApp.start({ floods, web })
    const flood = app.get('/floods?lines=100000')
    await app.until(() => app.lines.length > 0)
    const answer = await app.get('/web/')
    const linesBefore = app.lines.length
    assert.equal(answer.status, 200)
    assert.ok(linesBefore < 100_000, 'the answer came behind the flood')
    assert.equal((await flood).status, 200)
    await app.until(() => app.lines.length === 100_000)
    assert.ok(app.lines.every((line, index) => line === index))
  })

test('a process that floods its output does not buffer it in memory', async () => {
  await using app = await FloodedApp.start({ floods: { file, run: 'process' } })
  const growth = Number(await (await app.get('/floods?lines=300000')).text())
  assert.ok(growth < 60_000_000, `${growth} bytes`)
})

test('in a shared worker, lines beyond the limit are dropped and counted', async () => {
  await using app = await FloodedApp.start({ floods: { file, run: 'shared' }, web: { ...web, run: 'shared' } })
  assert.equal((await app.get('/floods?lines=100000')).status, 200)
  assert.equal((await app.get('/web/')).status, 200)
  await app.until(() => app.lines.length + app.dropped === 100_000)
  assert.ok(app.dropped > 0)
  assert.ok(app.lines.every((line, index) => index === 0 || line > app.lines[index - 1]!))
})

/** An app whose log takes as long per line as a real one. */
class FloodedApp implements AsyncDisposable {
  /** The numbers of the lines that were logged. */
  readonly lines: number[] = []
  dropped = 0
  #running: RunningApp | undefined
  #changed = Promise.withResolvers<void>()
  readonly #log = createLog({
    format: 'json',
    limit: Infinity,
    stream: new Writable({ write: (_chunk, _encoding, done) => done() }),
  })

  static async start(services: AppSetup['services']): Promise<FloodedApp> {
    const app = new FloodedApp()
    const routes = Object.keys(services).map((service) => ({ host: undefined, prefix: `/${service}`, service }))
    app.#running = await startSupervisor(appOf({ services, gateway: { entry: undefined, routes } }), {
      mode: 'start',
      timing: { stale: 60_000 },
      log: (record) => app.#logged(record),
    })
    return app
  }

  get(path: string): Promise<Response> {
    const { url } = this.#running!.addresses[0]!
    return fetch(`${url.replace(/\/$/, '')}${path}`, { headers: { connection: 'close' } })
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.#changed.promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.stop()
  }

  #logged(record: AppLogRecord): void {
    this.#log.write(record)
    const { service, stream, line } = record
    if (service === 'floods' && stream === 'stdout') this.lines.push(Number.parseInt(line, 10))
    this.dropped += Number(/^(\d+) log lines dropped: floods /.exec(line)?.[1] ?? 0)
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
