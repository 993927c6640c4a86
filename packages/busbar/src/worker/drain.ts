import type { Service } from '../config/app.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { StopTimes } from '../shared/control.ts'
import type { Port } from '../shared/port.ts'
import { within } from '../shared/within.ts'
import type { HostedProgram } from './host/host.ts'
import { stepsFrom, stopInOrder } from './order.ts'

export interface DrainParts extends StopTimes {
  /** Those of this worker. */
  readonly services: readonly Service[]
  /** Those of the app: what is in other workers takes its time, too. */
  readonly all: readonly Service[]
  readonly programs: ReadonlyMap<string, HostedProgram>
  /** Undefined where there is none, or where the one entry's own server gets the connections. */
  readonly gateway: Gateway | undefined
  /** This worker's own ones. */
  readonly ports: readonly Port[]
  /** Settles when nobody in any worker needs the service any more. */
  readonly released: (service: string) => Promise<void>
  /** Told just before a service takes no more calls. */
  readonly draining: (service: string) => void
  /** Told what has stopped; undefined is the gateway. */
  readonly closed: (service: string | undefined) => void
}

/** From outside to inside: the ports, the gateway's requests, then each service after those that need it. */
export async function drain(parts: DrainParts): Promise<void> {
  const { services, all, programs, gateway, ports, timeout, quiet, released, draining, closed } = parts
  const deadline = performance.now() + timeout
  const steps = 1 + Math.max(0, ...all.map((service) => stepsFrom(service, all)))
  // However long a step takes, each one after it still has this much, so that signal handlers always run.
  const reserve = Math.min(500, timeout / 2 / steps)
  const left = (stepsAfter: number): number => Math.max(0, deadline - performance.now() - stepsAfter * reserve)
  await Promise.all(ports.map((port) => port.close()))
  await gateway?.stop({ timeout: left(steps - 1), quiet })
  closed(undefined)
  const stop = async (service: Service): Promise<void> => {
    draining(service.name)
    const timeout = Math.min(service.stopTimeout, left(stepsFrom(service, all) - 1))
    await programs.get(service.name)!.stop({ timeout, quiet })
    closed(service.name)
  }
  const untilFree = async (service: Service): Promise<void> => {
    await within(left(stepsFrom(service, all)), [released(service.name)])
  }
  await stopInOrder(services, stop, untilFree)
  gateway?.destroy()
}

/** Services that may stop, by the supervisor's word, which may come before the order to stop. */
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
