/**
 * A retried call is one call: instances die under load, and what the clients have counted still
 * agrees with `/metrics` and the traces, which count the retries apart.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from '../../../src/config/app.ts'
import { loadApp } from '../../../src/config/load.ts'
import { type AcceleratorName, acceleratorNames } from '../../../src/shared/accelerators.ts'
import { type ParsedSample, parseMetrics } from '../../support/app/prometheus.ts'
import { pollUntil } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { builtAddon } from '../../entrance/served.ts'
import { TracedApp } from '../support/traced-app.ts'

const folder = `${import.meta.dirname}/../programs/retries`

interface Setup {
  readonly run: 'thread' | 'process'
  readonly entrance: App['gateway']['entrance']
  readonly accelerators: readonly AcceleratorName[]
}

const setups: readonly Setup[] = [
  { run: 'thread', entrance: 'portable', accelerators: acceleratorNames },
  { run: 'process', entrance: 'portable', accelerators: acceleratorNames },
  { run: 'thread', entrance: 'native', accelerators: acceleratorNames },
  { run: 'process', entrance: 'native', accelerators: acceleratorNames },
  { run: 'process', entrance: 'portable', accelerators: [] },
]

for (const setup of setups) {
  const { run, entrance, accelerators } = setup
  const how = `in a ${run}, ${entrance} entrance, ${accelerators.length === 0 ? 'no' : 'all'} accelerators`
  const skip = entrance === 'native' && builtAddon === undefined ? 'the entrance is not built' : false

  // Without accelerators, a busy machine decides whether a broken connection is a lost instance.
  const isExact = accelerators.length > 0
  if (isExact)
    test(
      `the retries of calls whose instance dies are counted exactly: ${how}`,
      { skip, timeout: 120_000 },
      async () => {
        await using app = await RetryingApp.start(setup)
        const held = ['/back', '/fetch', '/typed'].flatMap((way) =>
          Array.from({ length: 6 }, () => app.call(`${way}/held`)),
        )
        await pollUntil(() => app.attempts.length === held.length)
        const [backs, prices] = [await app.exitOf('/back/exit'), await app.exitOf('/typed/exit')]
        const lost = app.attempts.filter(({ instance }) => instance === backs || instance === prices).length - 2
        assert.ok(lost > 0)
        await pollUntil(() => app.attempts.length === held.length + 2 + lost)
        app.release()
        assert.deepEqual(new Set(await Promise.all(held)), new Set([200]))
        assert.equal(await app.retries(), lost)
        await app.agrees()
      },
    )

  test(`counts agree while instances die under load: ${how}`, { skip, timeout: 120_000 }, async () => {
    await using app = await RetryingApp.start(setup)
    let isOver = false
    const clients = ['/back', '/fetch', '/typed', '/back'].map(async (way) => {
      for (let calls = 0; !isOver && calls < 60; calls++) {
        await app.call(`${way}/quick`)
        await sleep(5)
      }
    })
    for (const path of ['/back/exit', '/typed/exit', '/fetch/exit']) {
      await app.exitOf(path)
      await app.untilServing()
    }
    isOver = true
    await Promise.all(clients)
    const repeated = app.attempts.length - new Set(app.attempts.map(({ id }) => id)).size
    assert.ok((await app.retries()) >= repeated)
    await app.agrees()
  })
}

test(
  'a request that the native entrance repeats is two calls, and the entrance counts it apart',
  { skip: builtAddon === undefined ? 'the entrance is not built' : false, timeout: 120_000 },
  async () => {
    await using app = await RetryingApp.start({ ...setups[2]!, workers: 2 })
    const held = Array.from({ length: 10 }, () => app.call('/fetch/held'))
    await pollUntil(() => app.attempts.length === held.length)
    assert.equal(await app.call('/exit', 'POST'), 502)
    app.release()
    assert.deepEqual(new Set(await Promise.all(held)), new Set([200]))
    const { repeated } = app.running.status().entrance!
    assert.ok(repeated > 0)
    assert.deepEqual(await app.outsideCalls(), { none: repeated + 1, 200: held.length })
    assert.deepEqual(app.tally, { 200: held.length, none: 1 })
  },
)

interface Attempt {
  readonly instance: string
  readonly id: string
}

/** The app of `programs/retries`, with a client that counts its responses by status. */
class RetryingApp implements AsyncDisposable {
  readonly tally: Record<string, number> = {}
  readonly #app: TracedApp
  readonly #folder: TestFolder
  #calls = 0

  private constructor(app: TracedApp, files: TestFolder) {
    this.#app = app
    this.#folder = files
  }

  static async start({ run, entrance, accelerators, workers = 1 }: Setup & { workers?: number }): Promise<RetryingApp> {
    const files = new TestFolder({ attempts: '' })
    const app = await loadApp(folder, { env: { TALLY: files.path }, overrides: { workers } })
    const services = app.services.map((one) => (one.name === 'web' ? one : { ...one, run, instances: 3 }))
    const gateway = { ...app.gateway, entrance }
    return new RetryingApp(await TracedApp.start({ ...app, services, gateway, accelerators }), files)
  }

  get running(): TracedApp['running'] {
    return this.#app.running
  }

  /** What the instances of `back` and `prices` have begun to answer. */
  get attempts(): readonly Attempt[] {
    const lines = this.#folder.read('attempts').split('\n').slice(0, -1)
    return lines.map((line) => line.split(' ')).map(([instance, id]) => ({ instance: instance!, id: id! }))
  }

  async call(path: string, method = 'GET', id = `${++this.#calls}`): Promise<number> {
    const response = await fetch(new URL(`${path}?id=${id}`, this.#app.url), { method })
    await response.text()
    // A call that the gateway answers itself, because its worker has died, has no status.
    const isLost = response.headers.get('content-type') === 'application/problem+json'
    const status = isLost ? 'none' : response.status
    this.tally[status] = (this.tally[status] ?? 0) + 1
    return response.status
  }

  /** Ends an instance by a call that is not retried, and returns which. */
  async exitOf(path: string): Promise<string> {
    assert.equal(await this.call(path, 'POST', path), 502)
    return this.attempts.findLast(({ id }) => id === path)!.instance
  }

  async untilServing(): Promise<void> {
    await pollUntil(() => this.running.status().workers.every(({ state }) => state === 'serving'))
  }

  release(): void {
    this.#folder.write('release', '')
  }

  async retries(): Promise<number> {
    return sumOf(await this.#samples('busbar_edge_retries_total'))
  }

  /** By status. */
  async outsideCalls(): Promise<Record<string, number>> {
    const samples = await this.#samples('busbar_edge_calls_total')
    return sumsBy(
      samples.filter(({ labels }) => labels['caller'] === ''),
      ({ labels }) => labels['status']!,
    )
  }

  /** The clients' tally, `/metrics`, the status and the traces have the same calls and retries. */
  async agrees(): Promise<void> {
    assert.deepEqual(await this.outsideCalls(), this.tally)
    const total = sumOf(Object.values(this.tally).map((value) => ({ value })))
    const isWhole = (one: { calls: readonly { caller: string | null }[] }): boolean => one.calls[0]!.caller === null
    const traces = await this.#app.tracesWhen((all) => all.length === total && all.every(isWhole))
    const calls = traces.flatMap((one) => one.calls)
    const traced = calls.map((call) => ({ key: `${call.caller ?? ''} ${call.service}`, value: call.attempts - 1 }))
    const retries = await this.#samples('busbar_edge_retries_total')
    const counted = sumsBy(retries, ({ labels }) => `${labels['caller']} ${labels['callee']}`)
    assert.deepEqual(
      counted,
      sumsBy(traced, ({ key }) => key),
    )
    const shown = this.running
      .status()
      .edges.map((edge) => ({ key: `${edge.caller} ${edge.callee}`, value: edge.retries }))
    assert.deepEqual(
      counted,
      sumsBy(shown, ({ key }) => key),
    )
  }

  async #samples(name: string): Promise<readonly ParsedSample[]> {
    return parseMetrics(await this.#app.metrics()).get(name)!.samples
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release()
    await this.#app[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}

function sumOf(all: readonly { readonly value: number }[]): number {
  return all.reduce((sum, { value }) => sum + value, 0)
}

function sumsBy<One extends { readonly value: number }>(
  all: readonly One[],
  key: (one: One) => string,
): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(all, key)].map(([name, some]) => [name, sumOf(some)]))
}
