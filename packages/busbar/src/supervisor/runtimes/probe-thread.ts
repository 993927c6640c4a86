import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { AcceleratorName, AcceleratorState } from '../../shared/accelerators.ts'
import type { ProbeData } from '../../shared/control-messages.ts'
import { compileCacheVariables } from '../../shared/process/compile-cache.ts'
import { threadFlags } from '../../shared/process/inherited-flags.ts'
import { workerMain } from './thread.ts'

/**
 * Which of the accelerators in `wanted` work on this Node. A thread of its own runs the probes: in
 * a worker, V8 would optimise Node's HTTP code for the unusual sockets of the probes, too, and each
 * request would cost 5 to 7 % more (docs/decisions/expose/accepting.md). Rejects if the thread
 * fails.
 */
export async function probeAccelerators(
  wanted: readonly AcceleratorName[],
  entry: URL = workerMain,
): Promise<readonly AcceleratorState[]> {
  const data: ProbeData = { probe: wanted }
  const thread = new Worker(entry, {
    name: 'busbar probes',
    workerData: data,
    env: { ...process.env, ...compileCacheVariables() },
    ...(threadFlags && { execArgv: threadFlags }),
  })
  try {
    const [states] = (await once(thread, 'message')) as [readonly AcceleratorState[]]
    return states
  } finally {
    await thread.terminate()
  }
}
