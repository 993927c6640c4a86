import { type App, isRawEntry, type Service } from '../config/app.ts'
import { isInternal } from '../config/cluster/queues.ts'
import type { CallRoute } from '../shared/calls/call-access.ts'
import type { InstanceSpec, ListenerSpec } from '../shared/control-messages.ts'

/**
 * What a start of the app would do: plain data that `busbar check` prints and `startApp` carries
 * out.
 */
export interface Plan {
  /** The slots of shared workers come first. */
  readonly slots: readonly SlotSpec[]
  readonly accept: App['accept']
  readonly listeners: readonly ListenerSpec[]
  /**
   * Services of one wave start in parallel, after the previous waves. They stop in reverse order.
   */
  readonly waves: readonly (readonly string[])[]
  /** The working directory: the folder of an app's only service; undefined leaves it unchanged. */
  readonly folder: string | undefined
}

/** A slot: a stable position that successive workers fill. */
export interface SlotSpec {
  readonly index: number
  /** Identifies it in the plans of other versions of the app, whatever their other slots are. */
  readonly position: string
  /** Human-readable: `shared 0`, `api`, `render 1`. */
  readonly name: string
  readonly kind: 'shared' | 'thread' | 'process' | 'command'
  /** At most one instance of each service, in the order they start. */
  readonly hosts: readonly InstanceSpec[]
  /** Bytes; undefined for no limit. */
  readonly memory: number | undefined
  /** Whether one more worker is kept ready, to replace one that ends. */
  readonly spare: boolean
  /** The file of the queue that its workers own, one at a time. */
  readonly queueFile?: string
}

export function planApp(app: App): Plan {
  return {
    slots: slotsOf(app),
    accept: app.accept,
    listeners: listenersOf(app),
    waves: wavesOf(app.services),
    folder: folderOf(app),
  }
}

/** The name of a worker in log lines: `0` for a shared one, `3 (render 1)` for others. */
export function workerLabel({ index, name, kind }: SlotSpec): string {
  return kind === 'shared' ? `${index}` : `${index} (${name})`
}

/**
 * Whether a worker may be ended because of one call that does not stop. A service without
 * `concurrency` would lose more than that call.
 */
export function mayBeEnded({ kind, hosts }: SlotSpec, services: readonly Service[]): boolean {
  const isLimited = (name: string): boolean =>
    services.some((service) => service.name === name && service.concurrency !== undefined)
  return kind === 'thread' && hosts.every(({ name }) => isLimited(name))
}

/** The services that each command calls: those that it needs, and all of other apps. */
export function callRoutesOf({ services, remotes = [] }: App): CallRoute[] {
  const commands = services.filter(({ kind }) => kind === 'command')
  const far = remotes.map((remote) => remote.name)
  return commands.flatMap(({ name, needs }) => [...needs, ...far].map((service) => ({ caller: name, service })))
}

/**
 * True if the slot's next worker can only start after its worker has ended: two workers of a
 * command cannot listen on one configured port.
 */
export function hasFixedPort({ kind, hosts }: SlotSpec, { services }: App): boolean {
  return kind === 'command' && services.find(({ name }) => name === hosts[0]!.name)?.port !== undefined
}

/** Whether the workers of a slot accept the connections of a port. */
export function servesPort({ kind, hosts }: SlotSpec, { serves }: ListenerSpec, app: App): boolean {
  if (serves.kind === 'export') return exports({ kind, hosts }, app)
  if (serves.kind === 'redirect' || (serves.kind === 'gateway' && !isRawEntry(app))) return kind === 'shared'
  const service = serves.kind === 'service' ? serves.service : app.gateway.entry
  return hosts.some(({ name }) => name === service)
}

/** The workers with exported services; if these are all commands, the shared ones. */
function exports({ kind, hosts }: Pick<SlotSpec, 'kind' | 'hosts'>, app: App): boolean {
  if (kind === 'command') return false
  const isExported = (name: string): boolean => app.export?.services.includes(name) === true
  const inWorkers = app.services.some((service) => isExported(service.name) && !isCommand(service))
  return inWorkers ? hosts.some(({ name }) => isExported(name)) : kind === 'shared'
}

function isCommand({ kind, double }: Service): boolean {
  return kind === 'command' || double === true
}

type Draft = Omit<SlotSpec, 'index'>

function slotsOf(app: App): SlotSpec[] {
  const drafts = [...sharedSlots(app), ...threadSlots(app), ...processSlots(app)]
  return drafts.map((draft, index) => ({ index, ...draft }))
}

/**
 * At least one, even without shared services: the gateway needs a thread, unless the entry takes
 * raw connections.
 */
function sharedSlots(app: App): Draft[] {
  const shared = app.services.filter(({ run }) => run === 'shared')
  if (shared.length === 0 && isRawEntry(app) && app.export === undefined) return []
  return Array.from({ length: app.workers }, (_, index) => ({
    position: `shared ${index}`,
    name: `shared ${index}`,
    kind: 'shared',
    hosts: shared.map((service) => instanceOf(service, index)),
    memory: undefined,
    spare: false,
  }))
}

/** Thread `n` of a group hosts instance `n` of each of its services. */
function threadSlots({ services }: App): Draft[] {
  const threads = services.filter(({ run }) => run === 'thread')
  const groups = Map.groupBy(threads, ({ name, group }) => (group === undefined ? `service ${name}` : `group ${group}`))
  return [...groups].flatMap(([key, members]) => {
    const count = Math.max(...members.map(({ instances }) => instances))
    const name = members[0]!.group ?? members[0]!.name
    return Array.from({ length: count }, (_, index): Draft => {
      const here = members.filter(({ instances }) => index < instances)
      return {
        position: `${key} thread ${index}`,
        name: nameOf(name, count, index),
        kind: 'thread',
        hosts: here.map((service) => instanceOf(service, index)),
        memory: sumOf(here.map(({ memory }) => memory)),
        spare: here.every(({ spare }) => spare),
        ...queueFileOf(here),
      }
    })
  })
}

function queueFileOf(services: readonly Service[]): Pick<SlotSpec, 'queueFile'> {
  const place = services.find(({ queueSettings }) => queueSettings !== undefined)?.queueSettings?.place
  return place?.is === 'file' ? { queueFile: place.path } : {}
}

function processSlots({ services }: App): Draft[] {
  return services
    .filter(({ run }) => run === 'process')
    .flatMap((service) =>
      Array.from({ length: service.instances }, (_, index) => ({
        position: `service ${service.name} process ${index}`,
        name: nameOf(service.name, service.instances, index),
        kind: isCommand(service) ? 'command' : 'process',
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
  const { host, port, tls, descriptor } = app.gateway
  const exposed = app.services.flatMap(({ name, expose }): ListenerSpec[] =>
    expose.map((address, index) => ({
      id: index === 0 ? `expose:${name}` : `expose:${name}:${index + 1}`,
      ...address,
      serves: { kind: 'service', service: name },
    })),
  )
  const { export: out } = app
  const exported: ListenerSpec[] =
    out === undefined ? [] : [{ id: 'export', host: out.host, port: out.port, serves: { kind: 'export' } }]
  const redirects: ListenerSpec[] =
    tls?.redirect === undefined ? [] : [{ id: 'redirect', host, port: tls.redirect.port, serves: { kind: 'redirect' } }]
  const activated = descriptor === undefined ? {} : { descriptor }
  const gateway: ListenerSpec = { id: 'gateway', host, port, ...activated, serves: { kind: 'gateway' } }
  return [gateway, ...redirects, ...exposed, ...exported]
}

/** One pass suffices, because each service comes after those it needs. */
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

/**
 * Threads share the working directory of the process, so only a single service can have its own.
 */
function folderOf({ services }: App): string | undefined {
  const [only, ...others] = services.filter((service) => !isInternal(service))
  return only !== undefined && others.length === 0 && only.run !== 'process' ? only.path : undefined
}
