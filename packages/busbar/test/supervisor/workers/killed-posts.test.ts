import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { test } from 'node:test'
import { type AppSetup, TestApp } from '../../support/app/test-app.ts'
import { ask, ClientLoops } from '../../support/http/client-loops.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

type Run = 'thread' | 'process'

const file = `${import.meta.dirname}/programs/executes.js`

/** What each kill hits. An app of one service has no gateway: its workers get raw connections. */
const kills: Readonly<Record<string, readonly Run[]>> = {
  'of threads and processes behind the gateway': ['thread', 'process', 'thread', 'process'],
  'of threads that have the connections themselves': ['thread', 'thread'],
  'of processes that have the connections themselves': ['process', 'process'],
}

for (const [what, runs] of Object.entries(kills))
  test(`during kills ${what}, an acknowledged POST was executed once, and none twice`, async () => {
    using folder = new TestFolder({ executed: '' })
    const timing = { backoff: 1, backoffMax: 1 }
    await using app = await TestApp.start(setupOf(new Set(runs), folder.at('executed')), { timing })
    using posts = new Posts(app.port, runs)
    const allServe = (): boolean => app.running.workers.every(({ state }) => state === 'serving')
    await using clients = new ClientLoops(6, async () => {
      if (!(await posts.send())) await app.until(allServe)
    })
    for (const [before, run] of runs.entries()) {
      await clients.answers(60)
      await killOne(app, posts, run)
      await app.until(() => deathsIn(app) > before && allServe())
    }
    await clients.answers(60)
    assert.deepEqual(await clients.stop(), [])
    posts.assertExecuted(readFileSync(folder.at('executed'), 'utf8').trimEnd().split('\n'))
  })

function setupOf(runs: ReadonlySet<Run>, executed: string): AppSetup {
  const services = [...runs].map(
    (run) => [run, { file, run, instances: 2, env: { FILE: executed, RUN: run } }] as const,
  )
  const routes = [...runs].map((run) => ({ host: undefined, prefix: `/${run}`, service: run }))
  return { services: Object.fromEntries(services), ...(runs.size > 1 && { gateway: { entry: undefined, routes } }) }
}

/** The POST that ends a worker is executed in it. Others are in flight there too. */
async function killOne(app: TestApp, posts: Posts, run: Run): Promise<void> {
  const id = posts.newId('last')
  const last = posts.send(run, id)
  if (run === 'process') {
    const waits = new RegExp(`^${id} waits in (\\d+)\\.$`)
    const pidIn = (): string | undefined => app.log.map(({ line }) => waits.exec(line)?.[1]).find(Boolean)
    await app.until(() => pidIn() !== undefined)
    const pid = Number(pidIn())
    assert.ok(pid !== process.pid && app.running.workers.some((worker) => worker.pid === pid))
    process.kill(pid, 'SIGKILL')
  }
  await last
}

/** Sends POSTs with an id each, and records which of them were acknowledged. */
class Posts implements Disposable {
  readonly #runs: readonly Run[]
  readonly #options
  readonly #acknowledged = new Set<string>()
  readonly #failed = new Set<string>()
  #count = 0

  constructor(port: number, runs: readonly Run[]) {
    this.#runs = runs
    this.#options = { protocol: http, agent: new http.Agent({ keepAlive: true }), port, method: 'POST' }
  }

  newId(kind: 'id' | 'last'): string {
    return `${kind}-${++this.#count}`
  }

  /** Resolves to true if it was acknowledged. */
  async send(run = this.#runs[this.#count % this.#runs.length]!, id = this.newId('id')): Promise<boolean> {
    const path = `/${run}?${id}`
    // Those without a body would be the easiest to retry.
    const body = this.#count % 3 === 0 ? id : undefined
    const answer = await ask({ ...this.#options, path }, body).catch(() => undefined)
    const isAcknowledged = answer?.status === 200
    if (isAcknowledged) assert.equal(answer.body, id)
    ;(isAcknowledged ? this.#acknowledged : this.#failed).add(id)
    return isAcknowledged
  }

  assertExecuted(executed: readonly string[]): void {
    const once = new Set(executed)
    const twice = executed.filter((id, at) => executed.indexOf(id) !== at)
    assert.deepEqual(twice, [], 'executed twice')
    const lost = [...this.#acknowledged].filter((id) => !once.has(id))
    assert.deepEqual(lost, [], 'acknowledged and not executed')
    // Otherwise the kills hit nothing.
    const last = executed.filter((id) => id.startsWith('last') && this.#failed.has(id))
    assert.equal(last.length, this.#runs.length)
    assert.ok(this.#acknowledged.size > 100)
  }

  [Symbol.dispose](): void {
    this.#options.agent.destroy()
  }
}

function deathsIn({ running }: TestApp): number {
  return running.workers.reduce((sum, { deaths }) => sum + deaths, 0)
}
