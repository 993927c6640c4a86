import type { Arm } from '../arm.ts'
import type { LoadRequest } from '../engine/job.ts'
import type { Answer } from '../protocol/parity.ts'
import { RunningArm } from '../protocol/running-arm.ts'
import type { Workspace } from '../protocol/workspace.ts'
import type { TriedRequest } from './tried-app.ts'

/** Answers to one request of one start of an arm. A text says why there was none. */
export type Samples = readonly (Answer | string)[]

export interface ReplayOptions {
  readonly requests: readonly TriedRequest[]
  readonly workspace: Workspace
  readonly signal: AbortSignal
  /** The port at which a service is reached that is not the entry. */
  readonly portOf: (service: string) => number | undefined
}

/** What differs between the answers to equal requests cannot be compared. */
const repetitions = 3

/** Starts an arm, sends each request several times, and ends it. By request. */
export async function replay(arm: Arm, options: ReplayOptions): Promise<Samples[]> {
  const { workspace, signal } = options
  const running = await RunningArm.start(arm, { ...workspace, workers: 1, signal })
  try {
    return await askAll(running, options)
  } finally {
    await running.end()
  }
}

/** By request. */
export async function askAll(
  running: RunningArm,
  { requests, signal, portOf }: Omit<ReplayOptions, 'workspace'>,
): Promise<Samples[]> {
  const found: Samples[] = []
  for (const request of requests) {
    const samples: (Answer | string)[] = []
    const { service } = request
    const port = service === undefined ? undefined : portOf(service)
    for (let count = 0; count < repetitions; count++) {
      signal.throwIfAborted()
      samples.push(await running.ask(toLoad(request), { port }).catch((error: Error) => error.message))
    }
    found.push(samples)
  }
  return found
}

export function toLoad({ method, path, headers, body }: TriedRequest): LoadRequest {
  return { method, path, headers: headers.map(([name, value]) => [name, value]), ...(body !== undefined && { body }) }
}
