import type { NatsConnection } from '../../shared/cluster/connection.ts'
import { type Announcement, memberName, memberTimeout, readAnnouncement } from '../../shared/cluster/announcement.ts'
import type { ClusterSubjects } from '../../shared/cluster/subjects.ts'
import type { Subscriptions } from '../../shared/cluster/subscriptions.ts'
import type { RemoteHosts } from '../hosts/remote-hosts.ts'
import { dialMember } from './dial-member.ts'
import type { LinkEnds } from './link-ends.ts'

/** Milliseconds that a start waits for the first answer to its roll call. */
const rollTime = 500
/** Checks per `memberTimeout`. A time in which this thread is blocked counts as at most one. */
const checks = 4
/** Milliseconds after an announcement in which its host may not take links yet. */
const freshTime = 2_000
/** Hosts of one cluster that this worker keeps. Others are ignored. */
const maxMembers = 10_000

export interface ClusterMembersParts {
  /** The name of this app. */
  readonly app: string
  /** The id of this app's own host. */
  readonly own: string
  /** The services that this app calls in the cluster. */
  readonly services: readonly string[]
  readonly subjects: ClusterSubjects
  readonly hosts: RemoteHosts
}

interface Member {
  /** For messages. */
  readonly name: string
  readonly services: readonly string[]
  /** The checks at which nothing had been heard of it since the one before. */
  silentChecks: number
  /** When it was heard last. */
  readonly heardAt: number
}

interface Session {
  readonly connection: NatsConnection
  readonly ends: LinkEnds
}

/** The hosts of the cluster that serve what this app calls, as they announce themselves. */
export class ClusterMembers {
  readonly #parts: ClusterMembersParts
  readonly #members = new Map<string, Member>()
  readonly #answered = Promise.withResolvers<void>()
  /** Dials that are under way. */
  readonly #dials = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  #session: Session | undefined
  /** Dials that wait for a connection to NATS. */
  readonly #waiting = new Set<(session: Session) => void>()

  constructor(parts: ClusterMembersParts) {
    this.#parts = parts
    // What has arrived while this thread was blocked is read first.
    const check = (): void => void setImmediate(() => this.#expire())
    this.#timer = setInterval(check, memberTimeout / checks).unref()
  }

  /** Resolves when the hosts that answered at once were dialled. */
  async tried(): Promise<void> {
    await this.#answered.promise
    await Promise.all(this.#dials)
  }

  opened(connection: NatsConnection, subscriptions: Subscriptions, ends: LinkEnds): void {
    const { subjects } = this.#parts
    this.#session = { connection, ends }
    for (const use of this.#waiting) use(this.#session)
    this.#waiting.clear()
    // While there was no connection no host could be heard.
    for (const member of this.#members.values()) member.silentChecks = 0
    subscriptions.subscribe(subjects.announcements, {
      without: 'hosts of services of the cluster are not found',
      callback: (message) => {
        const announcement = readAnnouncement(message.string())
        if (announcement !== undefined) this.#heard(announcement)
      },
    })
    connection.publish(subjects.roll)
    setTimeout(() => this.#answered.resolve(), rollTime).unref()
  }

  lost(): void {
    this.#session = undefined
  }

  close(): void {
    clearInterval(this.#timer)
    this.#session = undefined
    this.#answered.resolve()
  }

  #heard(announcement: Announcement): void {
    const { own, services: wanted } = this.#parts
    const { host, state } = announcement
    if (host === own) return
    const services = announcement.services.map(({ name }) => name).filter((name) => wanted.includes(name))
    const known = this.#members.get(host)
    if (state === 'leaving' || services.length === 0) return this.#remove(host)
    if (known !== undefined && !isSame(known.services, services)) this.#remove(host)
    if (!this.#members.has(host) && this.#members.size >= maxMembers) return
    const name = memberName(announcement)
    this.#members.set(host, { name, services, silentChecks: 0, heardAt: performance.now() })
    this.#dial(host, name, services)
    // From now on, a start waits only for the dials that have begun.
    this.#answered.resolve()
  }

  #dial(host: string, name: string, services: readonly string[]): void {
    const { app, subjects, hosts } = this.#parts
    const isFresh = (): boolean => performance.now() - (this.#members.get(host)?.heardAt ?? -Infinity) < freshTime
    const dial = async (signal: AbortSignal): ReturnType<typeof dialMember> =>
      await dialMember({ ...(await this.#nextSession(signal)), subjects, host, app, signal, isFresh })
    const dialling = hosts.add({ name, services, dial })
    this.#dials.add(dialling)
    void dialling.finally(() => this.#dials.delete(dialling))
  }

  /** Rejects if the host is no longer dialled. */
  #nextSession(signal: AbortSignal): Promise<Session> {
    if (this.#session !== undefined) return Promise.resolve(this.#session)
    const { promise, resolve, reject } = Promise.withResolvers<Session>()
    const giveUp = (): void => {
      this.#waiting.delete(resolve)
      reject(new Error('is no longer dialled'))
    }
    this.#waiting.add(resolve)
    signal.addEventListener('abort', giveUp, { once: true })
    return promise
  }

  #remove(host: string): void {
    const member = this.#members.get(host)
    if (member === undefined) return
    this.#members.delete(host)
    this.#parts.hosts.remove(member.name)
  }

  /** Without a connection no host is heard, so its silence does not mean that it is gone. */
  #expire(): void {
    if (this.#session === undefined) return
    for (const [host, member] of this.#members) if (++member.silentChecks > checks) this.#remove(host)
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name) => other.includes(name))
}
