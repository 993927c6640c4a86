import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OutputScheduler } from '../../../src/supervisor/runtimes/output/output-scheduler.ts'

/** Output that takes a millisecond at a time to read. */
class Flood {
  reads = 0
  readonly #left: () => boolean

  constructor(left: () => boolean) {
    this.#left = left
  }

  read(): boolean {
    this.reads++
    const end = performance.now() + 1
    while (performance.now() < end);
    return this.#left()
  }
}

test('a flood is read in turns with others, and leaves time for other work', async () => {
  const scheduler = new OutputScheduler()
  let over = false
  const flood = new Flood(() => !over)
  const short = new Flood(() => false)
  scheduler.ready(flood)
  scheduler.ready(short)
  // These timers would never run if it read without a pause.
  while (flood.reads < 2 || short.reads < 1) await new Promise((resolve) => setTimeout(resolve, 5))
  over = true
  assert.equal(short.reads, 1)
})

test('during log backpressure nothing is read, and everything afterwards', async () => {
  let isBehind = true
  const scheduler = new OutputScheduler(() => isBehind)
  const source = new Flood(() => false)
  scheduler.ready(source)
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(source.reads, 0)
  isBehind = false
  while (source.reads === 0) await new Promise((resolve) => setTimeout(resolve, 5))
})
