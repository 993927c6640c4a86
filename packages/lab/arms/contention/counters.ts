/**
 * Counters in shared memory. A shard has 128 bytes, since processors fetch lines of 64 bytes in
 * pairs. One more shard is at the end: a single counter uses the first shard, and its lock the
 * second.
 */

export interface CountOrder {
  memory: SharedArrayBuffer
  increments: number
  tasks: number
  shards: number
  /** Index of this thread. */
  index: number
  threads: number
}

type Count = (cells: Int32Array, shard: number, increments: number) => void

/** Distance between shards in cells of four bytes. */
const stride = 32

export function counterFor(name: string): Count {
  const counter = counters[name]
  if (counter === undefined) throw new Error(`unknown counter "${name}"`)
  return counter
}

export function totalOf(memory: SharedArrayBuffer, counter: string): number {
  const cells = new Int32Array(memory)
  if (!counter.startsWith('sharded')) return cells[0]!
  let total = 0
  for (let at = 0; at < cells.length; at += stride) total += cells[at]!
  return total
}

const counters: Readonly<Record<string, Count>> = {
  mutex(cells, _shard, increments) {
    for (let at = 0; at < increments; at++) {
      lock(cells, stride)
      cells[0] = cells[0]! + 1
      unlock(cells, stride)
    }
  },
  atomic(cells, _shard, increments) {
    for (let at = 0; at < increments; at++) Atomics.add(cells, 0, 1)
  },
  'sharded-atomic'(cells, shard, increments) {
    const cell = shard * stride
    for (let at = 0; at < increments; at++) Atomics.add(cells, cell, 1)
  },
  /** Correct only if no two threads share a shard. The total shows it. */
  'sharded-plain'(cells, shard, increments) {
    const cell = shard * stride
    for (let at = 0; at < increments; at++) cells[cell] = cells[cell]! + 1
  },
}

const free = 0
const taken = 1
/** Taken, and a thread is waiting. */
const contended = 2

/** The mutex of U. Drepper, "Futexes Are Tricky", section 6. */
function lock(cells: Int32Array, at: number): void {
  if (Atomics.compareExchange(cells, at, free, taken) === free) return
  while (Atomics.exchange(cells, at, contended) !== free) Atomics.wait(cells, at, contended)
}

function unlock(cells: Int32Array, at: number): void {
  if (Atomics.exchange(cells, at, free) === contended) Atomics.notify(cells, at, 1)
}
