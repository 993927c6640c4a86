/**
 * The ways of counting in memory that threads share. Every shard has 128 bytes, since processors fetch lines of 64 in
 * pairs, and there is one more at the end: a way with a single counter has it in the first and its lock in the second.
 */

export interface Order {
  memory: SharedArrayBuffer
  increments: number
  tasks: number
  shards: number
  /** Which of the threads this one is. */
  index: number
  threads: number
}

type Count = (cells: Int32Array, shard: number, increments: number) => void

/** Cells of four bytes from one shard to the next. */
const stride = 32

export function wayOf(name: string): Count {
  const way = ways[name]
  if (way === undefined) throw new Error(`there is no way "${name}"`)
  return way
}

export function totalOf(memory: SharedArrayBuffer, way: string): number {
  const cells = new Int32Array(memory)
  if (!way.startsWith('sharded')) return cells[0]!
  let total = 0
  for (let at = 0; at < cells.length; at += stride) total += cells[at]!
  return total
}

const ways: Readonly<Record<string, Count>> = {
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
  /** Right only where no two threads have the same shard; the total tells. */
  'sharded-plain'(cells, shard, increments) {
    const cell = shard * stride
    for (let at = 0; at < increments; at++) cells[cell] = cells[cell]! + 1
  },
}

const free = 0
const taken = 1
/** Taken, and somebody sleeps. */
const contended = 2

/** The mutex of U. Drepper, "Futexes Are Tricky", section 6. */
function lock(cells: Int32Array, at: number): void {
  if (Atomics.compareExchange(cells, at, free, taken) === free) return
  while (Atomics.exchange(cells, at, contended) !== free) Atomics.wait(cells, at, contended)
}

function unlock(cells: Int32Array, at: number): void {
  if (Atomics.exchange(cells, at, free) === contended) Atomics.notify(cells, at, 1)
}
