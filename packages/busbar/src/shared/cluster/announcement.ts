/** What each host of a cluster says of itself, at set times and when it is asked. */

/** Milliseconds between two announcements. */
export const announceInterval = 5_000
/** Milliseconds without an announcement after which a host counts as gone. */
export const memberTimeout = 3 * announceInterval + 1_000

export interface ClusterService {
  readonly name: string
  readonly typed: boolean
  /** Calls in flight. */
  readonly load: number
  /** Of a typed service: the same at hosts with the same contract. '' if it is not known. */
  readonly contract: string
}

export interface Announcement {
  /** Unique: every start of an app is another host. */
  readonly host: string
  /** The name of the app. */
  readonly app: string
  /** The name of its machine. */
  readonly machine: string
  /** Of the app, as its `package.json` has it. '' without one. */
  readonly version: string
  /** `leaving`: it accepts no more links. */
  readonly state: 'serving' | 'leaving'
  readonly services: readonly ClusterService[]
}

/** Characters of a name. Longer ones are cut. */
const maxText = 200
/** A host that lists more is ignored. */
const maxServices = 10_000

export function encodeAnnouncement(announcement: Announcement): string {
  const { host, app, machine, version, state, services } = announcement
  const list = services.map(({ name, typed, load, contract }) => [name, typed ? 1 : 0, load, contract])
  return JSON.stringify([1, host, app, machine, version, state, list])
}

/** Undefined for anything else: every member of the cluster may publish any message. */
export function readAnnouncement(text: string): Announcement | undefined {
  const list = parse(text)
  if (!Array.isArray(list) || list[0] !== 1) return undefined
  const [, host, app, machine, version, state, services] = list as unknown[]
  if (![host, app, machine, version].every((one) => typeof one === 'string')) return undefined
  if (!/^[a-z0-9]{1,64}$/.test(host as string) || (state !== 'serving' && state !== 'leaving')) return undefined
  if (!Array.isArray(services) || services.length > maxServices) return undefined
  return {
    host: host as string,
    app: cut(app),
    machine: cut(machine),
    version: cut(version),
    state,
    services: (services as unknown[]).flatMap(readService),
  }
}

/** Human-readable. */
export function memberName({ app, machine, host }: Pick<Announcement, 'app' | 'machine' | 'host'>): string {
  return `${app} on ${machine} (${host})`
}

function readService(entry: unknown): ClusterService[] {
  if (!Array.isArray(entry)) return []
  const [name, typed, load, contract] = entry as unknown[]
  if (typeof name !== 'string' || name.length > maxText) return []
  const text = typeof contract === 'string' ? cut(contract) : ''
  return [{ name, typed: typed === 1, load: typeof load === 'number' ? load : 0, contract: text }]
}

function cut(text: unknown): string {
  return (text as string).slice(0, maxText)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
