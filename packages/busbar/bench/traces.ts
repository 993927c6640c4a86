/**
 * What traces cost: `node packages/busbar/bench/traces.ts [rounds]`. Measures the CPU time of one
 * thread, with and without a tracer in turns, since the machine is shared. As in an app, the calls
 * are those of a service that answers a request of one trace.
 */
import assert from 'node:assert/strict'
import { runInScope } from '../src/mesh/scope.ts'
import { Tracer } from '../src/mesh/tracing/tracer.ts'
import { quantile, quartiles, startArms, timeOf } from './mesh-arms.ts'

const rounds = Number(process.argv[2] ?? 200)
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
const { arms, use } = await startArms()

for (const [name, arm] of Object.entries(arms)) {
  const times = Object.fromEntries(Object.keys(tracers).map((key) => [key, [] as number[]]))
  for (let round = -5; round < rounds; round++)
    for (const [key, tracer] of Object.entries(tracers)) {
      await use({ tracer })
      const call = (): Promise<unknown> =>
        runInScope({ service: 'web', hops: 0, trace: tracer?.call(answered, undefined) }, arm.call)
      const time = await timeOf({ ...arm, call })
      if (round >= 0) times[key]!.push(time)
    }
  for (const [key, all] of Object.entries(times)) {
    const ratios = all.map((time, at) => time / times['off']![at]!)
    console.log(`${name}, ${key}: ${quantile(all, 0.25).toFixed(3)} µs, ${quartiles(ratios)}`)
  }
}
assert.ok(recorded > 0)
// The pools of connections stay open.
process.exit()
