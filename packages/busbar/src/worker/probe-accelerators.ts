/** Finds out, in a thread of its own, which accelerators work on this Node. */
import { parentPort, workerData } from 'node:worker_threads'
import type { ProbeData } from '../shared/control-messages.ts'
import { startAccelerators } from './accelerators.ts'

const { states } = await startAccelerators((workerData as ProbeData).probe)
parentPort!.postMessage(states)
