/**
 * What it costs a worker to add up its pauses for garbage collection (`worker/reporting/vitals`):
 * `node --expose-gc packages/busbar/bench/gc-observer.ts [rounds]`. Prints the processor time that
 * one collection takes with and without the observer, in turns, since the machine is shared, and
 * how many collections there are in a second of a fan-out by `fetch`. Their product is the cost.
 */
import assert from 'node:assert/strict'
import { PerformanceObserver } from 'node:perf_hooks'
import { quantile, startArms } from './mesh-arms.ts'

const rounds = Number(process.argv[2] ?? 100)
const collectionsInRound = 200

let collections = 0
let paused = 0
const observer = new PerformanceObserver((entries) => {
  for (const { duration } of entries.getEntries()) {
    collections++
    paused += duration
  }
})

/** Microseconds of one collection, with what the observer does after it. */
async function timeOfCollection(): Promise<number> {
  const before = process.threadCpuUsage()
  for (let n = 0; n < collectionsInRound; n++) {
    globalThis.gc!({ type: 'minor', execution: 'sync' })
    await new Promise(setImmediate)
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / collectionsInRound
}

const differences: number[] = []
for (let round = -5; round < rounds; round++) {
  const off = await timeOfCollection()
  observer.observe({ entryTypes: ['gc'] })
  const on = await timeOfCollection()
  observer.disconnect()
  if (round >= 0) differences.push(on - off)
}
const [low, cost, high] = [0.25, 0.5, 0.75].map((share) => quantile(differences, share)) as [number, number, number]
console.log(`${cost.toFixed(2)} µs for each collection (${low.toFixed(2)} to ${high.toFixed(2)})`)

const { arms, use } = await startArms()
await use({})
const { call } = arms['a fan-out to four programs by fetch']!
for (let n = 0; n < 2000; n++) await call()
observer.observe({ entryTypes: ['gc'] })
const [before, began] = [collections, process.threadCpuUsage()]
for (let n = 0; n < 10_000; n++) await call()
const { user, system } = process.threadCpuUsage(began)
const perSecond = ((collections - before) / (user + system)) * 1e6
console.log(
  `${perSecond.toFixed(0)} collections in a second of processor time: ${((perSecond * cost) / 1e4).toFixed(2)} %`,
)
assert.ok(paused > 0)
// The pools of connections stay open.
process.exit()
