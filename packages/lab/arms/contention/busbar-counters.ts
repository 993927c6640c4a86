/**
 * The counters of `counters.ts` with Busbar's shared state. Values persist, so a run is a
 * difference.
 */
import { shared } from 'busbar'

interface BusbarCounter {
  /** Called once per thread. */
  prepare(): (cells: Int32Array, shard: number, increments: number) => void
  total(shards: number): number
}

export function busbarCounterFor(name: string): BusbarCounter | undefined {
  return counters[name]
}

const counters: Readonly<Record<string, BusbarCounter>> = {
  'busbar-mutex': {
    prepare: () => {
      const [mutex, cell] = [shared.mutex('lock'), shared.atomic('guarded')]
      return (_cells, _shard, increments) => {
        for (let at = 0; at < increments; at++) {
          const held = mutex.lockSync()
          cell.store(cell.load() + 1)
          held.release()
        }
      }
    },
    total: () => shared.atomic('guarded').load(),
  },
  'busbar-atomic': {
    prepare: () => {
      const cell = shared.atomic('one')
      return (_cells, _shard, increments) => {
        for (let at = 0; at < increments; at++) cell.add(1)
      }
    },
    total: () => shared.atomic('one').load(),
  },
  'busbar-sharded': {
    prepare: () => (_cells, shard, increments) => {
      const cell = shared.atomic(`shard ${shard}`)
      for (let at = 0; at < increments; at++) cell.add(1)
    },
    total: (shards) => {
      let total = 0
      for (let shard = 0; shard < shards; shard++) total += shared.atomic(`shard ${shard}`).load()
      return total
    },
  },
  'busbar-counter': {
    prepare: () => {
      const counter = shared.counter('counted')
      return (_cells, _shard, increments) => {
        for (let at = 0; at < increments; at++) counter.add()
      }
    },
    total: () => shared.counter('counted').value,
  },
}
