import { shared } from 'busbar'

/** Counts for a task. */
export type Count = (task: number, iterations: number) => void

export interface Counter {
  /** Called once per thread. */
  prepare(shards: number): Count
  /** The total of all threads. */
  total(shards: number): number
}

export const counters: Readonly<Record<string, Counter>> = {
  mutex: {
    prepare: () => {
      const [mutex, cell] = [shared.mutex('contention'), shared.atomic('guarded')]
      return (_task, iterations) => {
        for (let at = 0; at < iterations; at++) {
          const held = mutex.lockSync()
          cell.store(cell.load() + 1)
          held.release()
        }
      }
    },
    total: () => shared.atomic('guarded').load(),
  },

  'atomic, one cell': {
    prepare: () => {
      const cell = shared.atomic('one')
      return (_task, iterations) => {
        for (let at = 0; at < iterations; at++) cell.add(1)
      }
    },
    total: () => shared.atomic('one').load(),
  },

  'atomic, sharded': {
    prepare: (shards) => {
      const cells = Array.from({ length: shards }, (_, shard) => shared.atomic(`shard ${shard}`))
      return (task, iterations) => {
        const cell = cells[task % shards]!
        for (let at = 0; at < iterations; at++) cell.add(1)
      }
    },
    total: (shards) => {
      let total = 0
      for (let shard = 0; shard < shards; shard++) total += shared.atomic(`shard ${shard}`).load()
      return total
    },
  },

  /** It ignores the number of shards: each thread has its own, so no atomics are needed. */
  'plain, sharded': {
    prepare: () => {
      const counter = shared.counter('plain')
      return (_task, iterations) => {
        for (let at = 0; at < iterations; at++) counter.add()
      }
    },
    total: () => shared.counter('plain').value,
  },
}
