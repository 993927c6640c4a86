import type { Service } from '../../config/app.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import type { StopTimes } from '../../shared/time/stop-times.ts'
import type { Port } from '../../shared/listeners/open-port.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import type { EntranceRegistration } from '../entrance-registration.ts'
import type { HostedService } from '../hosted-service.ts'
import { stopDepth, stopInOrder } from './dependency-order.ts'

export interface DrainParts extends StopTimes {
  /** The services of this worker. */
  readonly services: readonly Service[]
  /** All services of the app: stops in other workers take time, too. */
  readonly all: readonly Service[]
  readonly hosted: ReadonlyMap<string, HostedService>
  /** Undefined if this worker has no gateway, or under a raw entry. */
  readonly gateway: Gateway | undefined
  /** Undefined if this worker gets no requests from the native entrance. */
  readonly entrance: EntranceRegistration | undefined
  /** The whole app stops: no other worker takes over. */
  readonly inOrder: boolean
  /** The ports that this worker opened itself. */
  readonly ports: readonly Port[]
  /** Settles when no running service in any worker needs this one any more. */
  readonly released: (service: string) => Promise<void>
  /** Called just before a service stops accepting calls. */
  readonly draining: (service: string) => void
  /** Called when a service has stopped; undefined: the gateway has. */
  readonly closed: (service: string | undefined) => void
}

/**
 * Drains from the outside in: the ports, the gateway, then each service after those that need it.
 */
export async function drain(parts: DrainParts): Promise<void> {
  const { services, all, hosted, gateway, entrance, inOrder, ports, timeout, quiet, released, draining, closed } = parts
  const { webSockets } = parts
  const deadline = performance.now() + timeout
  const steps = 1 + Math.max(0, ...all.map((service) => stopDepth(service, all)))
  // However long a step takes, each later step has this many milliseconds left for signal handlers.
  const reserve = Math.min(500, timeout / 2 / steps)
  const remaining = (stepsAfter: number): number => Math.max(0, deadline - performance.now() - stepsAfter * reserve)
  await Promise.all(ports.map((port) => port.close()))
  if (!inOrder) await entrance?.leave(remaining(steps - 1))
  // When the whole app stops, the programs behind the gateway close them in their own way.
  const times = { timeout: remaining(steps - 1), quiet, webSockets: inOrder ? undefined : webSockets }
  await Promise.all([gateway?.stop(times), inOrder ? entrance?.outlast(times) : undefined])
  closed(undefined)
  const stop = async (service: Service): Promise<void> => {
    draining(service.name)
    const timeout = Math.min(service.stopTimeout, remaining(stopDepth(service, all) - 1))
    await hosted.get(service.name)!.stop({ timeout, quiet, webSockets })
    closed(service.name)
  }
  const untilReleased = async (service: Service): Promise<void> => {
    await settlesWithin(remaining(stopDepth(service, all)), [released(service.name)])
  }
  await stopInOrder(services, stop, untilReleased)
  // Those of services in other workers, which close them meanwhile.
  const after = Math.min(webSockets?.after ?? 0, remaining(0))
  if (inOrder && webSockets !== undefined) await gateway?.closeWebSockets({ ...webSockets, after })
  gateway?.destroy()
  entrance?.close()
}

/** The services that the supervisor has released. A release may arrive before the order to stop. */
export class Releases {
  readonly #released = new Map<string, PromiseWithResolvers<void>>()

  set(service: string): void {
    this.#of(service).resolve()
  }

  until(service: string): Promise<void> {
    return this.#of(service).promise
  }

  #of(service: string): PromiseWithResolvers<void> {
    const known = this.#released.get(service) ?? Promise.withResolvers<void>()
    this.#released.set(service, known)
    return known
  }
}
