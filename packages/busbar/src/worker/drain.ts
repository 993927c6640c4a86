import type { Service } from '../config/app.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Port } from '../shared/port.ts'
import type { HostedProgram } from './host/host.ts'
import { stepsFrom, stopInOrder } from './order.ts'

export interface DrainParts {
  readonly services: readonly Service[]
  readonly programs: ReadonlyMap<string, HostedProgram>
  /** Undefined where the one entry's own server gets the connections. */
  readonly gateway: Gateway | undefined
  /** This worker's own ones. */
  readonly ports: readonly Port[]
  /** Milliseconds for everything. */
  readonly timeout: number
}

/** From outside to inside: the ports, the gateway's requests, then each service after those that need it. */
export async function drain({ services, programs, gateway, ports, timeout }: DrainParts): Promise<void> {
  const deadline = performance.now() + timeout
  const steps = 1 + Math.max(0, ...services.map((service) => stepsFrom(service, services)))
  // However long a step takes, each one after it still has this much, so that signal handlers always run.
  const reserve = Math.min(500, timeout / 2 / steps)
  const left = (stepsAfter: number): number => Math.max(0, deadline - performance.now() - stepsAfter * reserve)
  await Promise.all(ports.map((port) => port.close()))
  await gateway?.stop(left(steps - 1))
  await stopInOrder(services, async (service) => {
    await programs.get(service.name)!.stop(Math.min(service.stopTimeout, left(stepsFrom(service, services) - 1)))
  })
  gateway?.destroy()
}
