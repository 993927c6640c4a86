/**
 * Simulates a fan-out over four instances, one of them ten times slower: four single-threaded
 * queues, calls that arrive at random times, and the real picker. The result does not depend on the
 * machine.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceInstances } from '../../../src/mesh/routing/balance/service-instances.ts'
import { TestInstance, TestLoads } from '../../support/mesh/test-instance.ts'
import { SeededRandom } from '../../support/seeded-random.ts'

/** The mean service time of a healthy instance, in milliseconds. */
const work = 1
/** Calls per request. The slowest one determines its latency. */
const fan = 4
const requests = 20_000

for (const seed of [1, 2, 3])
  test(`a slow instance raises the p99 less than half as much as under round robin (seed ${seed})`, () => {
    const rise = (choice: Choice): number => p99({ seed, choice, slow: true }) - p99({ seed, choice, slow: false })
    const [byLoad, byTurns] = [rise(leastLoad), rise(roundRobin)]
    assert.ok(byTurns > 1, `round robin suffers: ${byTurns} ms`)
    assert.ok(byLoad < byTurns / 2, `by load ${byLoad} ms, by turns ${byTurns} ms`)
  })

type Choice = (instances: readonly TestInstance[]) => () => TestInstance

function leastLoad(instances: readonly TestInstance[]): () => TestInstance {
  const service = new ServiceInstances('cart', new TestLoads(instances))
  for (const instance of instances) service.add(instance)
  return () => service.find(undefined) as TestInstance
}

function roundRobin(instances: readonly TestInstance[]): () => TestInstance {
  let turn = 0
  return () => instances[turn++ % instances.length]!
}

interface Setup {
  readonly seed: number
  readonly choice: Choice
  readonly slow: boolean
}

/** At 7 % of the healthy capacity, so that the slow instance still keeps up under round robin. */
function p99({ seed, choice, slow }: Setup): number {
  const random = new SeededRandom(seed)
  const instances = Array.from({ length: 4 }, (_, index) => new TestInstance('cart', index))
  const choose = choice(instances)
  const freeAt = instances.map(() => 0)
  const ends: { readonly at: number; readonly instance: TestInstance }[] = []
  const latencies: number[] = []
  let now = 0
  for (let request = 0; request < requests; request++) {
    now += random.exponential(work / 0.07)
    for (let at = ends.length - 1; at >= 0; at--) if (ends[at]!.at <= now) ends.splice(at, 1)[0]!.instance.answering--
    let last = now
    for (let call = 0; call < fan; call++) {
      const instance = choose()
      const pace = slow && instance.index === 0 ? 10 : 1
      const end = Math.max(now, freeAt[instance.index]!) + random.exponential(work * pace)
      freeAt[instance.index] = end
      instance.answering++
      instance.begun++
      ends.push({ at: end, instance })
      last = Math.max(last, end)
    }
    latencies.push(last - now)
  }
  latencies.sort((one, other) => one - other)
  return latencies[Math.floor(latencies.length * 0.99)]!
}
