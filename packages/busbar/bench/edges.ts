/**
 * What it costs to count calls by edge: `node packages/busbar/bench/edges.ts [rounds]`. Measures
 * the CPU time of one thread, on against off in turns, since the machine is shared, and checks that
 * every call was counted. 2,000 rounds of 9 ms tell 0.4 % apart: with 200 rounds of 35 ms, the
 * medians of the same code were 0.9 to 2.4 %.
 */
import assert from 'node:assert/strict'
import { countedPaths, Meter } from '../src/mesh/meter.ts'
import type { EdgeTable } from '../src/shared/metrics/edge-table.ts'
import { InstanceTable } from '../src/shared/metrics/instance-table.ts'
import { names, quantile, startArms, templates, timeOf } from './mesh-arms.ts'

const rounds = Number(process.argv[2] ?? 2000)
/** Of the calls of an arm: the speed of the machine changes within longer rounds. */
const share = 1 / 4
const table = new InstanceTable({ rows: 1, services: names.map((name) => ({ name })) })
const paths = countedPaths()
for (const one of templates) paths.configure(one)
const meter = new Meter(table.edges(0), undefined, paths)
const { arms, use } = await startArms({ meter })

/** Microseconds of counting since the sample was chosen. */
let counting = 0
for (const [name, arm] of Object.entries(arms)) {
  const times = { on: [] as number[], off: [] as number[] }
  const calls = arm.calls * share
  for (let round = -rounds / 20; round < rounds; round++)
    for (const how of round % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
      await use(how === 'on' ? { meter } : {})
      const before = counted()
      const time = await timeOf({ ...arm, calls })
      if (round >= 0) times[how].push(time)
      if (how === 'on') renewAfter(time * calls)
      assert.equal(counted() - before, how === 'off' ? 0 : calls * arm.each)
    }
  const ratios = times.on.map((on, round) => on / times.off[round]!)
  const [on, off] = [times.on, times.off].map((all) => quantile(all, 0.25).toFixed(3))
  console.log(`${name}: ${on} µs on, ${off} µs off (first quartiles); ${medianOf(ratios)}`)
}
process.exit()

/** With its 95 % interval, by the middle half of the values. */
function medianOf(values: readonly number[]): string {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => quantile(values, part))
  const margin = (1.57 * (high! - low!)) / Math.sqrt(values.length)
  return `${middle!.toFixed(4)} x ± ${margin.toFixed(4)}`
}

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
