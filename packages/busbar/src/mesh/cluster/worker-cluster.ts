import { ClusterConnection, clientOf } from '../../shared/cluster/connection.ts'
import { subjectsOf } from '../../shared/cluster/subjects.ts'
import type { ClusterConfig } from '../../shared/hosts.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import type { ExportedLinks } from '../hosts/export/exported-links.ts'
import type { ExportedService } from '../hosts/host-hello.ts'
import type { RemoteHosts } from '../hosts/remote-hosts.ts'
import { ClusterEvents, type ClusterEventsParts } from './cluster-events.ts'
import { LinkAcceptor } from './link-acceptor.ts'
import { LinkEnds } from './link-ends.ts'
import { ClusterMembers } from './members.ts'

export interface WorkerClusterParts {
  readonly config: ClusterConfig
  /** The name of this app. */
  readonly app: string
  /** Of the app. '' if it has none. */
  readonly version: string
  /** The id of its host. */
  readonly host: string
  /** What this app calls in the cluster. */
  readonly calls: readonly string[]
  readonly hosts: RemoteHosts
  /** What this worker offers. Undefined: nothing. */
  readonly offers: { readonly links: ExportedLinks; readonly services: readonly ExportedService[] } | undefined
  /** Undefined: it neither publishes nor gets events. */
  readonly events?: Pick<ClusterEventsParts, 'router' | 'maxHops' | 'countDropped'> | undefined
  readonly log: (level: 'info' | 'warn', line: string) => void
}

/** This worker's part in the cluster: one connection to NATS, links to and from other hosts. */
export class WorkerCluster {
  readonly events: ClusterEvents | undefined
  readonly #connection: ClusterConnection
  readonly #members: ClusterMembers | undefined
  readonly #acceptor: LinkAcceptor | undefined
  #ends: LinkEnds | undefined

  constructor({ config, app, version, host, calls, hosts, offers, events, log }: WorkerClusterParts) {
    const subjects = subjectsOf(config.name)
    const common = { app, subjects, log }
    if (calls.length > 0) this.#members = new ClusterMembers({ ...common, own: host, services: calls, hosts })
    if (offers !== undefined) this.#acceptor = new LinkAcceptor({ ...common, ...offers, version, host })
    if (events !== undefined) {
      const renewLimit = (): void => void this.#connection.renewLimit()
      this.events = new ClusterEvents({ ...events, subjects, host, renewLimit, log })
    }
    this.#connection = new ClusterConnection({
      config,
      name: `busbar ${app} ${host}`,
      opened: (connection, subscriptions) => {
        const ends = new LinkEnds(connection, subscriptions, subjects, clientOf(config))
        this.#ends = ends
        this.#members?.opened(connection, subscriptions, ends)
        this.#acceptor?.opened(subscriptions, ends)
        this.events?.opened(connection, subscriptions)
      },
      lost: () => {
        this.#members?.lost()
        this.#acceptor?.lost()
        this.events?.lost()
        this.#ends?.lost()
      },
      transitTime: () => this.events?.transitTime ?? 0,
      log,
    })
    hosts.clusterFault = () => this.#connection.fault ?? this.#connection.refusal
  }

  /** Resolves when the first hosts that answer were dialled once, or after `limit` milliseconds. */
  async tried(limit: number): Promise<void> {
    if (this.#members !== undefined) await settlesWithin(limit, [this.#membersTried(this.#members)])
  }

  /**
   * Takes links and events from now on. Resolves when NATS knows that, when it cannot be reached,
   * or after `limit` milliseconds.
   */
  async accept(limit: number): Promise<void> {
    this.#acceptor?.accept()
    this.events?.accept()
    await settlesWithin(limit, [this.#connection.sent()])
  }

  /** Takes no more links. */
  stopAccepting(): void {
    this.#acceptor?.stop()
  }

  /** `limit`: milliseconds in which NATS may get what is on its way. */
  async close(limit?: number): Promise<void> {
    this.events?.close()
    this.#members?.close()
    await this.#connection.close(limit)
  }

  /** Without a server there are no hosts to wait for. */
  async #membersTried(members: ClusterMembers): Promise<void> {
    await this.#connection.tried
    if (this.#connection.current !== undefined) await members.tried()
  }
}
