import { BusbarError } from '../../contract/errors.ts'
import { startFailed } from '../workers/worker-exit.ts'
import type { StartRuntime, WorkerRuntime, RuntimeEvents } from './runtime.ts'

/**
 * A runtime that the system refuses to start, for lack of descriptors, processes or memory, ends at
 * once.
 */
export function launchRuntime(start: StartRuntime, events: RuntimeEvents): WorkerRuntime {
  try {
    return start(events)
  } catch (error) {
    return new FailedRuntime(error, events)
  }
}

class FailedRuntime implements WorkerRuntime {
  readonly pid = undefined
  readonly closed = 0

  constructor(thrown: unknown, events: RuntimeEvents) {
    // The exit must not come before the launcher has registered the worker.
    setImmediate(() => events.exited(startFailed(BusbarError.from(thrown))))
  }

  age(): number {
    return 0
  }

  async stack(): Promise<undefined> {}

  send(): void {}

  transfer(): 'lost' {
    return 'lost'
  }

  async kill(): Promise<void> {}
}
