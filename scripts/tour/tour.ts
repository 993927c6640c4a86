/**
 * A minute of Busbar: `npm run tour`. Load runs while a service moves from a shared worker to a
 * thread of its own, to two processes and back; one process is killed, and everything is reloaded.
 * A table shows what callers see of each step and what each placement costs. Ends with 1 if any
 * request failed.
 *
 *     node scripts/tour/tour.ts [--seconds 4] [--rate 200] [--connections 16]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type LoadReport, startLoad } from './load.ts'
import { Step, Table } from './table.ts'
import { TourApp } from './tour-app.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rate: { type: 'string', default: '200' },
    connections: { type: 'string', default: '16' },
  },
})
const [seconds, rate, connections] = [values.seconds, values.rate, values.connections].map(Number) as [
  number,
  number,
  number,
]

/** What is done at the start of each step, while the load goes on. */
const steps: readonly [name: string, placement: string, change: (app: TourApp) => Promise<unknown>][] = [
  ['started', 'shared worker', async () => {}],
  ['move stock --run thread', 'own thread', (app) => app.run('move', 'stock', '--run', 'thread')],
  [
    'move stock --run process (2)',
    '2 processes',
    (app) => app.run('move', 'stock', '--run', 'process', '--instances', '2'),
  ],
  ['kill -9 of one process', '2 processes', (app) => app.kill('stock')],
  ['reload of everything', '2 processes', (app) => app.run('reload')],
  ['move stock --run thread', 'own thread', (app) => app.run('move', 'stock', '--run', 'thread', '--instances', '1')],
  ['move stock --run shared', 'shared worker', (app) => app.run('move', 'stock', '--run', 'shared')],
]

process.exitCode = await tour()

async function tour(): Promise<number> {
  const app = await TourApp.start()
  const table = new Table(process.stdout)
  let answered = 0
  const load = startLoad({ url: `${app.url}/items`, rate, connections }, (report: LoadReport) => {
    answered += report.latencies.length
    table.steps.at(-1)?.add(report)
    table.draw()
  })
  try {
    // The first requests load and compile what they need.
    await sleep(1000)
    for (const [name, placement, change] of steps) {
      const step = new Step(name, placement)
      table.begin(step)
      await change(app)
      const [before, from] = [await app.cost(), answered]
      await sleep(seconds * 1000)
      step.costs(before, await app.cost(), answered - from)
      table.end()
    }
  } finally {
    await load.stop()
    await app.stop()
  }
  const failed = table.steps.flatMap((step) => step.failures)
  for (const failure of failed) console.error(`failed: ${failure}`)
  return failed.length === 0 ? 0 : 1
}
