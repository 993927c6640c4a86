import { armProgram, type Arm } from '../arm.ts'
import { exactly, goProgram, program } from './launch.ts'
import type { Scenario } from './scenario.ts'

const counters = {
  mutex: ['a mutex on Atomics.wait', 'a sync.Mutex'],
  atomic: ['Atomics.add on one cell', 'one atomic.Int64'],
  'sharded-atomic': ['Atomics.add on a cell for each shard', 'an atomic for each shard'],
  'sharded-plain': ['plain stores, a cell for each shard', 'plain stores, a cell for each shard'],
} as const

/** Counters based on Busbar's shared state. */
const busbarCounters = {
  'busbar-mutex': 'a lock for each increment, shared.mutex()',
  'busbar-atomic': 'one cell, shared.atomic()',
  'busbar-sharded': 'a cell for each shard, shared.atomic()',
  'busbar-counter': 'a cell for each thread, shared.counter()',
} as const

/**
 * A job: a run is one request, whose answer is the total, and runs follow each other. So a wrong
 * total is a wrong answer, latency is the duration of a run, and rounds and verdicts work as for a
 * load. `workers` is the number of threads.
 */
export const contention: Scenario = {
  name: 'contention',
  question: 'Threads that count together: what does it cost them to agree on the total?',
  unit: 'run',
  baseline: 'atomic',
  arms: [
    ...Object.entries(counters).flatMap(([way, [inNode, inGo]]) => [node(way, `Node, ${inNode}`), go(way, inGo)]),
    ...Object.entries(busbarCounters).map(([way, title]) => node(way, `Busbar, ${title}`)),
  ],
  quick: { arms: ['mutex', 'sharded-plain', 'busbar-counter'] },
  connections: [1],
  workers: [4],
  parameters: { increments: 20_000_000, tasks: 500, shards: 500 },
  request: ({ increments = 1, tasks = 1, shards = 1 }) => ({
    path: `/run?increments=${increments}&tasks=${tasks}&shards=${shards}`,
    expect: exactly(`{"total":${increments}}`),
  }),
  work: { runs: 3, timeoutMs: 60_000 },
}

function node(way: string, title: string): Arm {
  const file = armProgram('contention/server.ts')
  return {
    name: way,
    title,
    launch: (context) => program(context, '/ready', { file, env: { WAY: way } }),
  }
}

/** Tasks are goroutines on as many threads as there are workers. */
function go(way: string, title: string): Arm {
  return {
    name: `go-${way}`,
    title: `Go, ${title}`,
    requires: { kind: 'go', source: 'contention/contention.go' },
    launch: (context) => goProgram(context, '/ready', { WAY: way }),
  }
}
