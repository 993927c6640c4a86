import { hostname } from 'node:os'
import type { App } from '../../config/app.ts'
import type { AppStatus, ClusterStats } from '../../observe/app-status.ts'
import {
  type Announcement,
  announceInterval,
  type ClusterService,
  encodeAnnouncement,
  memberTimeout,
  readAnnouncement,
} from '../../shared/cluster/announcement.ts'
import { ClusterConnection, flushTimeout, type NatsConnection } from '../../shared/cluster/connection.ts'
import { type ClusterSubjects, subjectsOf } from '../../shared/cluster/subjects.ts'
import { RepeatedLines } from '../../shared/output/repeated-lines.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import type { Readiness } from '../../shared/control-messages.ts'
import type { SlotTable } from '../generations/slot-table.ts'
import type { Subscriptions } from '../../shared/cluster/subscriptions.ts'
import { answerServiceRequests } from './nats-services.ts'

/** Other hosts whose announcements are kept, and the services of all of them together. */
const maxMembers = 10_000
const maxServices = 200_000
/**
 * A host answers a roll call after a random time, of up to so many milliseconds for each host that
 * it knows. One answer serves all roll calls until then. Without this, hosts that start together
 * would send as many answers to each of their roll calls as there are hosts.
 */
const rollSpread = 5
const leastRollSpread = 50
/** Milliseconds of the close, once the others have had time to learn that this host leaves. */
const closeTime = 100

export interface AppClusterParts {
  readonly app: () => App
  readonly slots: Pick<SlotTable, 'current'>
  readonly status: () => AppStatus
  /** The id of this app's host. */
  readonly host: string
  readonly log: (level: 'info' | 'warn' | 'error', line: string) => void
}

export interface OtherMember {
  readonly announcement: Announcement
  /** Milliseconds since its last announcement. */
  readonly silentFor: number
}

/**
 * This app as a member of its cluster: announces what it serves, and knows the others. Its workers
 * have connections of their own, for calls. Does nothing for an app without a cluster.
 */
export class AppCluster {
  readonly #parts: AppClusterParts
  readonly #others = new Map<string, { readonly announcement: Announcement; seenAt: number }>()
  readonly #lines: RepeatedLines
  #countedServices = 0
  #connection: ClusterConnection | undefined
  #subjects: ClusterSubjects = subjectsOf('')
  #phase: Readiness['phase'] = 'starting'
  /** Resolves when the others know that this host leaves, or after a while. */
  #left: Promise<unknown> = Promise.resolve()
  #answer: NodeJS.Timeout | undefined

  constructor(parts: AppClusterParts) {
    this.#parts = parts
    this.#lines = new RepeatedLines(parts.log)
  }

  /** Returns what closes it. */
  open(): () => Promise<void> {
    const { app, host } = this.#parts
    const { cluster: config, name } = app()
    if (config === undefined) return async () => {}
    this.#subjects = subjectsOf(config.name)
    const connection = new ClusterConnection({
      config,
      name: `busbar ${name} ${host}`,
      opened: (opened, subscriptions) => this.#opened(opened, subscriptions),
      lost: () => {},
      log: this.#parts.log,
    })
    this.#connection = connection
    const timer = setInterval(() => {
      this.#expire()
      this.#announce()
    }, announceInterval).unref()
    return async () => {
      clearInterval(timer)
      this.#lines.close()
      await this.#left
      await connection.close(closeTime)
    }
  }

  /** Other apps call this one while it is `running`. */
  entered(phase: Readiness['phase']): void {
    this.#phase = phase
    this.#announce()
    // From the start of the stop: a server that stands still must not delay the end of the app.
    if (phase === 'stopping' && this.#connection !== undefined)
      this.#left = settlesWithin(flushTimeout, [this.#connection.sent()])
  }

  /** Other hosts, as they have announced themselves. */
  get others(): readonly OtherMember[] {
    const now = performance.now()
    this.#expire()
    return [...this.#others.values()].map(({ announcement, seenAt }) => ({ announcement, silentFor: now - seenAt }))
  }

  /** Undefined while there is none. */
  get connection(): NatsConnection | undefined {
    return this.#connection?.current
  }

  get stats(): ClusterStats | null {
    const { cluster } = this.#parts.app()
    if (cluster === undefined) return null
    const members = this.others.map(({ announcement: { host, app, machine, version, services }, silentFor }) => ({
      host,
      app,
      machine,
      version: version || null,
      silentFor: Math.round(silentFor),
      services: services.map(({ name, load, contract }) => ({ service: name, load, contract: contract || null })),
    }))
    return { name: cluster.name, host: this.#parts.host, fault: this.#connection?.fault ?? null, members }
  }

  #opened(connection: NatsConnection, subscriptions: Subscriptions): void {
    const { announcements, roll } = this.#subjects
    const now = performance.now()
    for (const other of this.#others.values()) other.seenAt = now
    subscriptions.subscribe(announcements, {
      without: 'busbar ps and check --live do not know the other hosts',
      callback: (message) => this.#heard(readAnnouncement(message.string())),
    })
    subscriptions.subscribe(roll, {
      without: 'apps that start find this one some seconds later',
      callback: () => this.#answerRoll(),
    })
    answerServiceRequests(subscriptions, { ...this.#parts, subjects: this.#subjects, services: () => this.#services })
    connection.publish(roll)
    this.#announce()
  }

  #heard(announcement: Announcement | undefined): void {
    if (announcement === undefined || announcement.host === this.#parts.host) return
    const { host, state, services } = announcement
    const before = this.#others.get(host)
    const count = this.#countedServices + services.length - (before?.announcement.services.length ?? 0)
    if (state === 'leaving') this.#forget(host)
    else if (count <= maxServices && (before !== undefined || this.#others.size < maxMembers)) {
      this.#countedServices = count
      this.#others.set(host, { announcement, seenAt: performance.now() })
    }
  }

  #forget(host: string): void {
    this.#countedServices -= this.#others.get(host)?.announcement.services.length ?? 0
    this.#others.delete(host)
  }

  #expire(): void {
    const now = performance.now()
    for (const [host, { seenAt }] of this.#others) if (now - seenAt > memberTimeout) this.#forget(host)
  }

  /** One announcement answers all roll calls until then. */
  #answerRoll(): void {
    if (this.#answer !== undefined) return
    const spread = Math.max(leastRollSpread, rollSpread * this.#others.size)
    this.#answer = setTimeout(() => {
      this.#answer = undefined
      this.#announce()
    }, Math.random() * spread).unref()
  }

  #announce(): void {
    const { app, host } = this.#parts
    const connection = this.#connection?.current
    if (this.#phase === 'starting' || connection === undefined || connection.isClosed()) return
    const { name, version = '' } = app()
    const state = this.#phase === 'running' ? 'serving' : 'leaving'
    const announcement = { host, app: name, machine: hostname(), version, state, services: this.#services } as const
    try {
      connection.publish(this.#subjects.announcements, encodeAnnouncement(announcement))
    } catch (error) {
      // More services than the server's `max_payload` has room for.
      const why = `${(error as Error).message}. List fewer in cluster.services, or raise max_payload of NATS`
      this.#lines.add('error', `this app cannot announce itself in its cluster: ${why}`)
    }
  }

  /** What this app offers. */
  get #services(): ClusterService[] {
    if (this.#phase !== 'running') return []
    const { app, slots, status } = this.#parts
    const { cluster, services } = app()
    const { instances } = status()
    const reports = slots.current.flatMap((slot) => slot.reports)
    return services.flatMap(({ name, kind }): ClusterService[] => {
      if (cluster?.services.includes(name) !== true) return []
      const load = instances.reduce((sum, { service, inFlight }) => sum + (service === name ? inFlight : 0), 0)
      const contract = reports.find((report) => report.name === name)?.contract ?? ''
      return [{ name, typed: kind === 'typed', load, contract }]
    })
  }
}
