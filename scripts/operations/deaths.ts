/**
 * One of two instances is ended every second, in turn:
 * `node scripts/operations/deaths.ts [--run process,thread] [--seconds 30] [--perSecond 300]`
 *
 * In processes by SIGKILL, in threads by an exit while it computes. Prints the failures of requests
 * that may be repeated (GET: none are allowed) and of those that may not (POST: 502). Ends with 1
 * if a GET fails, or a POST with another failure. Build first.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { MeasuredApp } from './app.ts'
import { quantile, Requests } from './load.ts'

const { values } = parseArgs({
  options: {
    run: { type: 'string', default: 'process,thread' },
    seconds: { type: 'string', default: '30' },
    perSecond: { type: 'string', default: '300' },
  },
})

for (const run of values.run.split(',') as ('process' | 'thread')[]) await measure(run)

async function measure(run: 'process' | 'thread'): Promise<void> {
  await using app = await MeasuredApp.start({ run, instances: 2 }, { run: 'thread' })
  const perSecond = Number(values.perSecond) / 2
  const loads = (['GET', 'POST'] as const).map(
    (method) => new Requests({ port: app.port, perSecond, keepAlive: true, method }),
  )
  await sleep(1000)
  for (let time = 0; time < Number(values.seconds); time++) {
    await untilBothServe(app)
    await (run === 'process' ? killOne(app, time) : exitOne(app))
    await sleep(1000)
  }
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

/** On a slow machine a restart takes longer than a second: then it is not one of two that ends. */
async function untilBothServe(app: MeasuredApp): Promise<void> {
  const limit = performance.now() + 20_000
  for (;;) {
    const { instances } = (await app.ask('GET', '/status')) as { instances: { service: string; state: string }[] }
    if (instances.filter(({ service, state }) => service === 'web' && state === 'serving').length === 2) return
    if (performance.now() > limit) throw new Error('an instance did not come back within 20 s')
    await sleep(50)
  }
}

async function killOne(app: MeasuredApp, time: number): Promise<void> {
  const status = (await app.ask('GET', '/status')) as { workers: { kind: string; pid: number | null; state: string }[] }
  const processes = status.workers.filter(({ kind, state }) => kind === 'process' && state === 'serving')
  const { pid } = processes[time % processes.length] ?? { pid: null }
  if (pid !== null) process.kill(pid, 'SIGKILL')
}

/** The request that ends the thread gets no answer. */
async function exitOne(app: MeasuredApp): Promise<void> {
  await app.ask('POST', '/services/web/inject', { method: 'POST', path: '/exit' }).catch(() => {})
}
