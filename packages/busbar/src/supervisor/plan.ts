import type { App, Service } from '../config/app.ts'
import { isRawEntry } from '../config/gateway/raw-entry.ts'
import type { InstanceSpec, ListenerSpec } from '../shared/control.ts'

/** What starting the app would do: pure data, printed by `busbar check` and carried out by `startApp`. */
export interface Plan {
  /** The shared ones come first. */
  readonly places: readonly Place[]
  readonly accept: App['accept']
  readonly listeners: readonly ListenerSpec[]
  /** Services of one wave start side by side, after all of the waves before; they stop in reverse. */
  readonly waves: readonly (readonly string[])[]
  /** The folder the process works in: that of the one program, or undefined where it stays as it is. */
  readonly folder: string | undefined
}

/** Where one worker of the app lives and, when it has died, the next. */
export interface Place {
  /** Its number. */
  readonly place: number
  /** For people: `shared 0`, `api`, `render 1`. */
  readonly name: string
  readonly kind: 'shared' | 'thread' | 'process' | 'command'
  /** At most one instance of a service, in the order they start. */
  readonly hosts: readonly InstanceSpec[]
  /** Bytes; undefined for no limit. */
  readonly memory: number | undefined
  /** It keeps one more worker ready than serves. */
  readonly spare: boolean
}

export function planApp(app: App): Plan {
  return {
    places: placesOf(app),
    accept: app.accept,
    listeners: listenersOf(app),
    waves: wavesOf(app.services),
    folder: folderOf(app),
  }
}

/** Whether running workers can be replaced by those of `next` while the listeners stay as they are. */
export function canRestartInto(running: App, next: App): boolean {
  // The memory that all workers share is laid out by the services and their limits.
  const limits = ({ services }: App): unknown => services.map(({ name, concurrency }) => [name, concurrency])
  const fixed = (app: App): string => JSON.stringify([planApp(app), limits(app), app.root, app.gateway.tls])
  return fixed(running) === fixed(next)
}

/** Whether its worker may be ended for a call that does not stop: with a service that has no limit it would lose more than the call. */
export function mayBeEnded({ kind, hosts }: Place, services: readonly Service[]): boolean {
  const isLimited = (name: string): boolean =>
    services.some((service) => service.name === name && service.concurrency !== undefined)
  return kind === 'thread' && hosts.every(({ name }) => isLimited(name))
}

/** The places that take the connections of a port. */
export function servedAt({ serves }: ListenerSpec, app: App, places: readonly Place[]): readonly Place[] {
  if (serves.kind === 'gateway' && !isRawEntry(app)) return places.filter(({ kind }) => kind === 'shared')
  const service = serves.kind === 'service' ? serves.service : app.gateway.entry
  return places.filter(({ hosts }) => hosts.some(({ name }) => name === service))
}

type Draft = Omit<Place, 'place'>

function placesOf(app: App): Place[] {
  const drafts = [...sharedPlaces(app), ...threadPlaces(app), ...processPlaces(app)]
  return drafts.map((draft, place) => ({ place, ...draft }))
}

/** Also where no service is shared: the gateway needs a thread, unless an entry takes the connections raw. */
function sharedPlaces(app: App): Draft[] {
  const shared = app.services.filter(({ run }) => run === 'shared')
  if (shared.length === 0 && isRawEntry(app)) return []
  return Array.from({ length: app.workers }, (_, index) => ({
    name: `shared ${index}`,
    kind: 'shared',
    hosts: shared.map((service) => instanceOf(service, index)),
    memory: undefined,
    spare: false,
  }))
}

/** The threads of a group: the first has the first instance of each of its services, and so on. */
function threadPlaces({ services }: App): Draft[] {
  const threads = services.filter(({ run }) => run === 'thread')
  const groups = Map.groupBy(threads, ({ name, group }) => (group === undefined ? `service ${name}` : `group ${group}`))
  return [...groups.values()].flatMap((members) => {
    const count = Math.max(...members.map(({ instances }) => instances))
    const name = members[0]!.group ?? members[0]!.name
    return Array.from({ length: count }, (_, index): Draft => {
      const here = members.filter(({ instances }) => index < instances)
      return {
        name: nameOf(name, count, index),
        kind: 'thread',
        hosts: here.map((service) => instanceOf(service, index)),
        memory: sumOf(here.map(({ memory }) => memory)),
        spare: here.every(({ spare }) => spare),
      }
    })
  })
}

function processPlaces({ services }: App): Draft[] {
  return services
    .filter(({ run }) => run === 'process')
    .flatMap((service) =>
      Array.from({ length: service.instances }, (_, index) => ({
        name: nameOf(service.name, service.instances, index),
        kind: service.kind === 'command' || service.double === true ? 'command' : 'process',
        hosts: [instanceOf(service, index)],
        memory: service.memory,
        spare: false,
      })),
    )
}

function instanceOf({ name, kind }: Service, index: number): InstanceSpec {
  return { name, typed: kind === 'typed', index }
}

function nameOf(name: string, count: number, index: number): string {
  return count === 1 ? name : `${name} ${index}`
}

function sumOf(sizes: readonly (number | undefined)[]): number | undefined {
  return sizes.reduce((sum, size) => (sum === undefined || size === undefined ? undefined : sum + size))
}

function listenersOf(app: App): ListenerSpec[] {
  const { host, port } = app.gateway
  const exposed = app.services.flatMap(({ name, expose }): ListenerSpec[] =>
    expose.map((address, index) => ({
      id: index === 0 ? `expose:${name}` : `expose:${name}:${index + 1}`,
      ...address,
      serves: { kind: 'service', service: name },
    })),
  )
  return [{ id: 'gateway', host, port, serves: { kind: 'gateway' } }, ...exposed]
}

/** `services` come in an order where each stands behind those it needs, so one pass is enough. */
function wavesOf(services: readonly Service[]): string[][] {
  const depths = new Map<string, number>()
  const waves: string[][] = []
  for (const { name, needs } of services) {
    const depth = needs.length === 0 ? 0 : 1 + Math.max(...needs.map((need) => depths.get(need) ?? -1))
    depths.set(name, depth)
    ;(waves[depth] ??= []).push(name)
  }
  return waves
}

/** A thread has no working directory of its own: it sees the process's, which one service can have for itself. */
function folderOf({ services }: App): string | undefined {
  const [only, ...others] = services
  return only !== undefined && others.length === 0 && only.run !== 'process' ? only.path : undefined
}
