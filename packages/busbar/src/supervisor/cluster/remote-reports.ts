import type { RemoteHostStats, RemoteStats } from '../../observe/app-status.ts'
import type { HostReport, RemoteService } from '../../shared/hosts.ts'
import type { OtherMember } from './app-cluster.ts'
import { memberName } from '../../shared/cluster/announcement.ts'

/** What workers report of the hosts of other apps, put together. */
export class RemoteReports {
  /** By the number of the worker. */
  readonly #reports = new Map<number, readonly HostReport[]>()
  #reachable = ''

  /** True if other services can be reached than before. */
  report(worker: number, reports: readonly HostReport[]): boolean {
    this.#reports.set(worker, reports)
    return this.#changed()
  }

  /** The worker has ended. */
  forget(worker: number): void {
    this.#reports.delete(worker)
    this.#changed()
  }

  /** Undefined: no worker has reported yet. */
  isReachable(service: string): boolean | undefined {
    if (this.#reports.size === 0) return undefined
    return this.#linked.some((host) => host.services.some(({ name }) => name === service))
  }

  stats(remotes: readonly RemoteService[], members: readonly OtherMember[]): RemoteStats[] {
    return remotes.map(({ name: service }) => ({
      service,
      reachable: this.isReachable(service) === true,
      hosts: this.#hostsOf(service, members),
    }))
  }

  get #linked(): readonly HostReport[] {
    return [...this.#reports.values()].flat().filter(({ state }) => state !== 'unlinked')
  }

  /** A host that is not linked has not said what it serves: it may be any of them. */
  #hostsOf(service: string, members: readonly OtherMember[]): RemoteHostStats[] {
    const all = [...this.#reports.values()].flat().filter(({ calls }) => calls.includes(service))
    return [...Map.groupBy(all, ({ name }) => name)].map(([name, reports]) => toStats(service, name, reports, members))
  }

  #changed(): boolean {
    const now = new Set(this.#linked.flatMap(({ services }) => services.map(({ name }) => name)))
    const text = [...now].toSorted().join()
    if (text === this.#reachable) return false
    this.#reachable = text
    return true
  }
}

function toStats(
  service: string,
  name: string,
  reports: readonly HostReport[],
  members: readonly OtherMember[],
): RemoteHostStats {
  const member = members.find(({ announcement }) => memberName(announcement) === name)
  const announced = member?.announcement.services.find((one) => one.name === service)
  const links = reports.filter(({ state }) => state !== 'unlinked')
  const own = links.flatMap(({ services }) => services.filter((one) => one.name === service))
  const [known = reports[0]!] = links
  const heard = Math.max(
    ...reports.map(({ lastReceivedAt = 0 }) => lastReceivedAt),
    Date.now() - (member?.silentFor ?? Infinity),
  )
  return {
    host: name,
    app: known.app ?? member?.announcement.app ?? null,
    version: (known.version ?? member?.announcement.version) || null,
    contract: announced?.contract || null,
    state: links.length === 0 ? 'unlinked' : links.every(({ state }) => state === 'ejected') ? 'ejected' : 'linked',
    why: known.why ?? known.withheld.find((one) => one.name === service)?.why ?? null,
    links: links.length,
    load:
      announced === undefined && own.length === 0
        ? null
        : Math.max(announced?.load ?? 0, ...own.map((one) => one.load)),
    inFlight: own.reduce((sum, { inFlight }) => sum + inFlight, 0),
    silentFor: heard > 0 ? Math.max(0, Math.round(Date.now() - heard)) : null,
  }
}
