/** The two workers of a call, as an edge counts it. */

/** No worker of this app, or an unknown one. Every other is the number of its slot, plus 1. */
export const noWorker = 0
/** Two workers fit into a small integer. Those of further slots are not distinguished. */
const maxWorkers = 1024

export function workerOf(slot: number | undefined): number {
  return slot === undefined || slot >= maxWorkers - 1 ? noWorker : slot + 1
}

/** The worker that made a call and the one that answered it, as one number. */
export function pairOf(caller: number, callee: number): number {
  return caller * maxWorkers + callee
}

export function callerOf(pair: number): number {
  return Math.floor(pair / maxWorkers)
}

export function calleeOf(pair: number): number {
  return pair % maxWorkers
}
