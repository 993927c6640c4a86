/** What `busbar check` runs in a thread of its own: tells which accelerators would be on. */
import { parentPort, workerData } from 'node:worker_threads'
import type { AcceleratorName } from '../shared/accelerators.ts'
import { startAccelerators } from './accelerators.ts'

const { states } = await startAccelerators(workerData as readonly AcceleratorName[])
parentPort!.postMessage(states)
