/**
 * What it costs to count calls by edge: `node packages/busbar/bench/edges.ts [rounds]`. Measures
 * the CPU time of one thread, on against off in turns, since the machine is shared, and checks that
 * every call was counted.
 */
import assert from 'node:assert/strict'
import { Meter } from '../src/mesh/meter.ts'
import type { EdgeTable } from '../src/shared/metrics/edge-table.ts'
import { InstanceTable } from '../src/shared/metrics/instance-table.ts'
import { names, quantile, quartiles, startArms, timeOf } from './mesh-arms.ts'

const rounds = Number(process.argv[2] ?? 200)
const table = new InstanceTable({ rows: 1, services: names.map((name) => ({ name })) })
const meter = new Meter(table.edges(0))
const { arms, use } = await startArms({ meter })

/** Microseconds of counting since the sample was chosen. */
let counting = 0
for (const [name, arm] of Object.entries(arms)) {
  const times = { on: [] as number[], off: [] as number[] }
  for (let round = 0; round < rounds; round++)
    for (const how of round % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
      await use(how === 'on' ? { meter } : {})
      const before = counted()
      const time = await timeOf(arm)
      times[how].push(time)
      if (how === 'on') renewAfter(time * arm.calls)
      assert.equal(counted() - before, how === 'off' ? 0 : arm.calls * arm.each)
    }
  const ratios = times.on.map((on, round) => on / times.off[round]!)
  const [on, off] = [times.on, times.off].map((all) => quantile(all, 0.25).toFixed(3))
  console.log(`${name}: ${on} µs on, ${off} µs off (first quartiles); ${quartiles(ratios)}`)
}
process.exit()

/**
 * An app counts all the time, and this counts half of it. So the second after which the sample is
 * chosen anew is one of counting: otherwise twice as large a share of the calls would be measured.
 */
function renewAfter(time: number): void {
  counting += time
  if (counting < 1_000_000) return
  counting = 0
  meter.renew()
}

function counted(): number {
  const edges: EdgeTable = table.edges(0)
  return Array.from({ length: edges.outcomes }, (_, at) => edges.outcomeOf(at).count).reduce((sum, one) => sum + one, 0)
}
