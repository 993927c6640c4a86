import { BusbarError } from '../contract/errors.ts'
import type { App, Service } from '../config/app.ts'
import { createGateway, isRawEntry, type Gateway } from '../gateway/gateway.ts'
import { startMesh } from '../mesh/mesh.ts'
import { offerTypedCalls } from '../mesh/typed/transport.ts'
import { Router } from '../mesh/router.ts'
import type { WorkerCells } from '../shared/cells.ts'
import type { ListenerSpec, TlsMaterial, WorkerInit } from '../shared/control.ts'
import { openPort, type Port, portFailure } from '../shared/port.ts'
import { type Door, Doors } from './doors.ts'
import { drain } from './drain.ts'
import { type HostedProgram, hostProgram } from './host/host.ts'
import { type Fault, installHosting } from './host/install.ts'
import { startInOrder } from './order.ts'
import type { Metering } from './metering.ts'
import type { Outbox } from './outbox.ts'
import { hostTyped } from './typed/host.ts'

/** The copy of the app that this thread hosts. */
export interface WorkerApp {
  readonly services: readonly HostedProgram[]
  readonly doors: Doors
  setTls(tls: TlsMaterial): void
  /** Finishes what is in flight and stops the services, within `timeout` milliseconds. The second call is the first. */
  stop(timeout: number): Promise<void>
}

/** What the worker has before its app. */
export interface WorkerParts {
  readonly cells: WorkerCells
  readonly metering: Metering
  readonly outbox: Outbox
}

/** Rejects with the error of the first service that does not start. */
export async function bootWorker(init: WorkerInit, parts: WorkerParts): Promise<WorkerApp> {
  const { app } = init
  const { cells, metering, outbox } = parts
  const { meter } = metering
  const router = new Router(
    app.services.map(({ name }) => name),
    metering.loads,
  )
  let gateway: Gateway | undefined
  const onFault = (fault: Fault): void => {
    outbox.post(fault)
    gateway?.fail(BusbarError.fromRecord({ ...fault.error, code: 'WORKER_DIED' }))
  }
  const patches = installHosting({ app, log: (record) => outbox.log(record), fault: onFault })
  const hosting = { ...patches, metering }
  const mesh = await startMesh({ router, maxHops: app.limits.maxHops, meter })
  offerTypedCalls({ router, maxHops: app.limits.maxHops, validate: 'always', meter })
  const typedHosting = {
    ...hosting,
    limits: app.limits,
    cors: app.gateway.cors ?? [],
    development: init.mode === 'dev',
  }
  const services = await startInOrder(app.services, async (service) => {
    const own = metering.of(service.name)
    own.state = 'starting'
    outbox.post({ type: 'starting', service: service.name })
    const program = await (service.kind === 'typed' ? hostTyped(service, typedHosting) : hostProgram(service, hosting))
    mesh.router.add(program)
    own.state = 'serving'
    outbox.post({ type: 'started', service: service.name })
    return program
  })
  if (!isRawEntry(app)) gateway = openGateway(init, parts, router)
  const doors = new Doors(doorsOf(init.listeners, app, services, gateway), cells)
  const ports = app.accept === 'reusePort' ? await openPorts(init.listeners, doors, gateway) : []
  let stopping: Promise<void> | undefined
  return {
    services: app.services.map(({ name }) => services.get(name)!),
    doors,
    setTls: (tls) => gateway?.setTls(tls),
    stop: (timeout) => {
      for (const { name } of app.services) metering.of(name).state = 'draining'
      return (stopping ??= drain({ services: app.services, programs: services, gateway, ports, timeout }))
    },
  }
}

function openGateway({ app, tls }: WorkerInit, { cells, metering, outbox }: WorkerParts, router: Router): Gateway {
  const log: Parameters<typeof createGateway>[0]['log'] = (level, line) =>
    outbox.log({ time: Date.now(), level, service: undefined, stream: 'busbar', line })
  // Closed connections are counted at the door, for services that are reached without the gateway too.
  const counts = { addInFlight: (by: 1 | -1) => cells.addInFlight(by), countClosed: () => {} }
  return createGateway({ app, router, tls, log, cells: counts, meter: metering.meter })
}

/** Which door each public port leads to. */
function doorsOf(
  listeners: readonly ListenerSpec[],
  app: App,
  services: ReadonlyMap<Service['name'], HostedProgram>,
  gateway: Gateway | undefined,
): Map<string, Door> {
  return new Map(
    listeners.map(({ id, port, serves }) => {
      if (serves.kind === 'service') return [id, services.get(serves.service)!.door(port)]
      return [id, gateway ?? services.get(app.gateway.entry!)!]
    }),
  )
}

/**
 * Only under `accept: 'reusePort'`: the kernel balances over all workers' listeners. The gateway listens by itself
 * and closes its port in its own stop.
 */
async function openPorts(
  listeners: readonly ListenerSpec[],
  doors: Doors,
  gateway: Gateway | undefined,
): Promise<Port[]> {
  return await Promise.all(
    listeners.map(async (spec) => {
      try {
        if (spec.serves.kind === 'gateway' && gateway)
          return { port: await gateway.listen(spec), close: async () => {} }
        const handlers = { connection: (handle: unknown) => doors.admitOwn(spec.id, handle), error: () => {} }
        return await openPort(spec, true, handlers)
      } catch (error) {
        throw BusbarError.fromRecord(portFailure(error as NodeJS.ErrnoException, spec))
      }
    }),
  )
}
