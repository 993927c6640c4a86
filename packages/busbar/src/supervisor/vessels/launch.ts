import { BusbarError } from '../../contract/errors.ts'
import { startFailed } from '../exit.ts'
import type { Launch, Vessel, VesselEvents } from './vessel.ts'

/** What the system refuses to start (for lack of descriptors, processes or memory) is a worker that ends at once. */
export function launchVessel(launch: Launch, events: VesselEvents): Vessel {
  try {
    return launch(events)
  } catch (error) {
    return new FailedVessel(error, events)
  }
}

class FailedVessel implements Vessel {
  readonly pid = undefined
  readonly closed = 0

  constructor(thrown: unknown, events: VesselEvents) {
    // The others know of a worker before they hear of its end.
    setImmediate(() => events.exited(startFailed(BusbarError.from(thrown))))
  }

  age(): number {
    return 0
  }

  send(): void {}

  hand(): 'lost' {
    return 'lost'
  }

  async kill(): Promise<void> {}
}
