/** What calls cost on a machine that no test depends on. */
import type { ModelParts } from '../../../src/observe/advice/app-model.ts'
import type { CostTable } from '../../../src/observe/advice/placement-costs.ts'

/** Milliseconds. */
function cost(latency: number, cpu: number): CostTable['http']['local'] {
  return { latency, caller: cpu / 2, callee: cpu / 2, batched: 0.5, latencyPerKib: 0, cpuPerKib: 0 }
}

export const table = { local: cost(0.03, 0.01), thread: cost(0.2, 0.08), unix: cost(0.4, 0.15) }
export const costs: ModelParts['costs'] = { http: table, rpc: table, others: 0, machine: 'test', node: 'v24' }
