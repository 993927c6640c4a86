/**
 * What traces cost: `node packages/busbar/bench/traces.ts [rounds]`. Measures the CPU time of one
 * thread, with and without a tracer in turns, since the machine is shared. As in an app, the calls
 * are those of a service that answers a request of one trace, and a meter counts them.
 */
import assert from 'node:assert/strict'
import { runInScope } from '../src/mesh/scope.ts'
import { Tracer } from '../src/mesh/tracing/tracer.ts'
import { Meter } from '../src/mesh/meter.ts'
import { InstanceTable } from '../src/shared/metrics/instance-table.ts'
import { names, quantile, quartiles, startArms, timeOf } from './mesh-arms.ts'

const rounds = Number(process.argv[2] ?? 200)
/** In each round, of each tracer: the load of the machine changes within longer ones. */
const turns = 20
let recorded = 0
const sink = { add: () => void recorded++, addOwn: () => {} }
const tracers = {
  off: undefined,
  'at 0 %': new Tracer({ sample: 0 }, sink),
  'at 1 %': new Tracer({ sample: 0.01 }, sink),
  'at 100 %': new Tracer({ sample: 1 }, sink),
}
const answered = {
  part: 'call',
  caller: undefined,
  service: 'web',
  protocol: 'http',
  method: 'GET',
  transport: 'local',
} as const
const table = new InstanceTable({ rows: 1, services: names.map((name) => ({ name })) })
const meter = new Meter(table.edges(0))
setInterval(() => meter.renew(), 1000).unref()
const { arms, use } = await startArms({ meter })

for (const [name, arm] of Object.entries(arms)) {
  const times = Object.fromEntries(Object.keys(tracers).map((key) => [key, [] as number[]]))
  const calls = arm.calls / turns
  for (let turn = -5 * turns; turn < rounds * turns; turn++)
    for (const [key, tracer] of inTurns(Object.entries(tracers), turn)) {
      await use({ tracer, meter })
      const call = (): Promise<unknown> =>
        runInScope({ service: 'web', hops: 0, trace: tracer?.call(answered, '/', undefined) }, arm.call)
      const time = await timeOf({ ...arm, calls, call })
      if (turn >= 0) times[key]!.push(time)
    }
  for (const [key, all] of Object.entries(times)) {
    const ratios = all.map((time, at) => time / times['off']![at]!)
    console.log(`${name}, ${key}: ${quantile(all, 0.25).toFixed(3)} µs, ${quartiles(ratios)}`)
  }
}
assert.ok(recorded > 0)
// The pools of connections stay open.
process.exit()

/** None is always the one after the same other. */
function inTurns<Item>(items: readonly Item[], turn: number): readonly Item[] {
  return turn % 2 === 0 ? items : items.toReversed()
}
