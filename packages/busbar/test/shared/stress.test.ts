import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { shared } from '../../src/state/shared.ts'
import { random } from './random.ts'

/**
 * `BUSBAR_FUZZ=seed:count` tries other seeds. Each takes some hundred milliseconds, in which
 * threads take locks and are killed.
 */
const [first, count] = (process.env['BUSBAR_FUZZ'] ?? `${Date.now() % 100_000}:5`).split(':').map(Number) as [
  number,
  number,
]
const locks = 3
/** Makes a counter carry every other time. */
const step = 2 ** 29
const kills = 4

test(`locks, counters and values stay consistent while threads are started and killed at random (seeds ${first} to ${first + count - 1})`, async (t) => {
  for (let seed = first; seed < first + count; seed++) await compete(seed)
  const { visits, abandoned, violations } = Object.fromEntries(
    ['visits', 'abandoned', 'violations'].map((name) => [name, shared.counter(name).value]),
  ) as Record<'visits' | 'abandoned' | 'violations', number>
  t.diagnostic(`${visits} visits, ${abandoned} of them after the death of a holder`)
  assert.equal(violations, 0, `seeds from ${first}: two threads held one lock, or a dead holder was not reported`)
  const [counted, steps] = [shared.counter('steps').value / step, shared.atomic('steps').load()]
  assert.ok(Math.abs(counted - steps) <= kills * count, `seeds from ${first}: counted ${counted} of ${steps}`)
  assert.ok(visits > 1000)
})

/**
 * Every thread that is not killed must finish: a lost wake-up or an unreleased lock would hang it.
 */
async function compete(seed: number): Promise<void> {
  const next = random(seed)
  shared.atomic('stop').store(0)
  const contenders = Array.from({ length: 4 }, (_, index) => new Contender(seed, index))
  for (let kill = 0; kill < kills; kill++) {
    await Promise.all(contenders.map((one) => one.begun))
    await sleep(next(10))
    const living = contenders.filter((one) => !one.isKilled)
    living[next(living.length)]!.kill()
    contenders.push(new Contender(seed, 10 + kill))
  }
  await Promise.all(contenders.map((one) => one.begun))
  await sleep(20)
  shared.atomic('stop').store(1)
  await Promise.all(contenders.map((one) => one.ended))
  for (let lock = 0; lock < locks; lock++) {
    using held = await shared.mutex(`lock ${lock}`).lock({ timeout: 10_000 })
    // What the last killed thread left in its lock.
    if (held.abandoned) shared.atomic(`lock ${lock}`).store(0)
    assert.equal(shared.atomic(`lock ${lock}`).load(), 0, `seed ${seed}`)
  }
}

class Contender {
  readonly begun: Promise<void>
  readonly ended: Promise<void>
  isKilled = false
  readonly #worker: Worker

  constructor(seed: number, index: number) {
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    this.begun = begun.promise
    this.ended = ended.promise
    this.#worker = new Worker(new URL('programs/contender.ts', import.meta.url), {
      workerData: { seed: seed * 100 + index, locks, step, values: (seed - first) * 3 },
    })
    let isDone = false
    this.#worker.on('message', (message) => {
      if (message === 'begun') begun.resolve()
      else isDone = true
    })
    this.#worker.once('error', ended.reject)
    this.#worker.once('exit', () => {
      begun.resolve()
      if (isDone || this.isKilled) ended.resolve()
      else ended.reject(new Error(`thread ${index} of seed ${seed} ended without a word`))
    })
  }

  kill(): void {
    this.isKilled = true
    void this.#worker.terminate()
  }
}
