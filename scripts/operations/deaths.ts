/**
 * One of two healthy instances is ended every second, in turn; on a slow machine later, when both
 * have served again for `held`:
 * `node scripts/operations/deaths.ts [--run process,thread] [--seconds 30] [--perSecond 300]`
 *
 * In processes by SIGKILL, in threads by an exit while it computes. Prints the failures of requests
 * that may be repeated (GET: none are allowed) and of those that may not (POST: 502). Ends with 1
 * if a GET fails, or a POST with another failure. Build first.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { StartedApp } from '../started-app.ts'
import { startMeasuredApp } from './app.ts'
import { quantile, Requests } from './load.ts'

interface Status {
  readonly instances: readonly { readonly service: string; readonly state: string }[]
  readonly workers: readonly {
    readonly kind: string
    readonly pid: number | null
    readonly state: string
    readonly restarts: number
  }[]
}

const { values } = parseArgs({
  options: {
    run: { type: 'string', default: 'process,thread' },
    seconds: { type: 'string', default: '30' },
    perSecond: { type: 'string', default: '300' },
  },
})

/**
 * Milliseconds that an instance has served when it is ended: longer than `stableAfter` in the app's
 * config. An instance that dies sooner is taken for one that fails again and again, and its restart
 * waits.
 */
const held = 600

/** Milliseconds until an instance must serve again. */
const backLimit = 60_000

for (const run of values.run.split(',') as ('process' | 'thread')[]) await measure(run)

async function measure(run: 'process' | 'thread'): Promise<void> {
  await using app = await startMeasuredApp({ run, instances: 2 }, { run: 'thread' })
  const perSecond = Number(values.perSecond) / 2
  const loads = (['GET', 'POST'] as const).map(
    (method) => new Requests({ port: app.port, perSecond, keepAlive: true, method }),
  )
  const began = performance.now()
  const count = Number(values.seconds)
  for (let time = 0; time < count; time++) {
    await untilBothServe(app, time)
    await sleep(Math.max(held, began + (time + 1) * 1000 - performance.now()))
    await (run === 'process' ? killOne(app, time) : exitOne(app))
  }
  const took = (performance.now() - began) / 1000
  await untilBothServe(app, count)
  console.log(`${run}: ${count} deaths in ${took.toFixed(1)} s`)
  await Promise.all(loads.map((load) => load.stop()))
  for (const [at, load] of loads.entries()) {
    const method = at === 0 ? 'GET' : 'POST'
    const counts: Record<string, number> = {}
    for (const { what } of load.failures) counts[what] = (counts[what] ?? 0) + 1
    const latencies = load.take()
    console.log(
      `${run}: ${method}: ${load.answered} answered, p99 ${Math.round(quantile(latencies, 0.99))} ms, failures ${JSON.stringify(counts)}`,
    )
    const isAllowed = (what: string): boolean => method === 'POST' && what === '502'
    if (load.failures.some(({ what }) => !isAllowed(what))) process.exitCode = 1
  }
}

/**
 * Before, it would not be one of two that ends. A status from before the supervisor has noticed the
 * last of the `deaths` still shows both.
 */
async function untilBothServe(app: StartedApp, deaths: number): Promise<void> {
  const limit = performance.now() + backLimit
  for (;;) {
    const { instances, workers } = (await app.ask('GET', '/status')) as Status
    const noticed = workers.reduce((sum, { restarts }) => sum + restarts, 0)
    const serving = instances.filter(({ service, state }) => service === 'web' && state === 'serving')
    if (noticed >= deaths && serving.length === 2) return
    if (performance.now() > limit)
      throw new Error(`an instance did not come back within ${backLimit / 1000} s: ${JSON.stringify(instances)}`)
    await sleep(50)
  }
}

async function killOne(app: StartedApp, time: number): Promise<void> {
  const status = (await app.ask('GET', '/status')) as Status
  const processes = status.workers.filter(({ kind, state }) => kind === 'process' && state === 'serving')
  const { pid } = processes[time % processes.length] ?? { pid: null }
  if (pid !== null) process.kill(pid, 'SIGKILL')
}

/** The request that ends the thread gets no answer. */
async function exitOne(app: StartedApp): Promise<void> {
  await app.ask('POST', '/services/web/inject', { method: 'POST', path: '/exit' }).catch(() => {})
}
