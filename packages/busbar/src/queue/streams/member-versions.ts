import { randomUUID } from 'node:crypto'
import { versionText } from '../../contract/queues/method-version.ts'
import type { QueueCalls } from '../../mesh/typed/queue-calls.ts'
import { announceInterval, memberTimeout } from '../../shared/cluster/announcement.ts'
import type { Subscriptions } from '../../shared/cluster/subscriptions.ts'
import { type ItemStreams, tryTo } from './item-streams.ts'

export interface MemberVersionsParts {
  /** Services of this app. Their items run here. */
  readonly services: readonly string[]
  readonly calls: Pick<QueueCalls, 'versions'>
}

/**
 * Milliseconds. In this time each host has said what it runs, since this one is connected, or since
 * another one with the same versions has left. That one may also start again meanwhile.
 */
const settleTime = announceInterval + 1_000
/** A time in which this thread is blocked, and hears nobody, counts as at most so long. */
const longestStep = 1_000
/** Versions of all hosts together. Others are ignored, as if nobody had them. */
const mostVersions = 100_000
/**
 * Milliseconds, for each host that is known, of the random time before an answer to a host that
 * enters. One answer serves all that enter until then, so that many which start together do not
 * get as many answers each.
 */
const answerSpread = 5
/** Hosts that are counted for that. */
const mostHosts = 10_000
/** Characters of one of them. */
const mostText = 1_000

/** `enters`: the others are to say at once what they run. */
type State = 'enters' | 'runs' | 'leaves'

/**
 * The versions of methods whose items are run in the cluster. Each host of the queue tells the
 * others what it runs. The announcements of the cluster's members would not do: a member may offer
 * no service, or run no items.
 */
export class MemberVersions {
  readonly #parts: MemberVersionsParts
  readonly #host = randomUUID()
  /** By `<service>.<method> <contract>`: until when a host has it, by {@link #time}. */
  readonly #known = new Map<string, number>()
  /** Other hosts, and until when they count. */
  readonly #hosts = new Map<string, number>()
  /** Milliseconds in which this host could hear others. */
  #time = 0
  #lookedAt = 0
  #settledAt = 0
  #streams: ItemStreams | undefined
  #said = ''
  #saidAt = 0
  #answerAt: number | undefined
  #hasLeft = false

  constructor(parts: MemberVersionsParts) {
    this.#parts = parts
  }

  /** By another connection than before. */
  connect(streams: ItemStreams, subscriptions: Subscriptions): void {
    this.#streams = streams
    this.#lookedAt = performance.now()
    this.#settledAt = this.#time + settleTime
    subscriptions.subscribe(streams.versions, {
      without: 'items of other versions of a method are run here, too',
      callback: (message) => this.#heard(message.string()),
    })
    if (!this.#hasLeft) this.#say('enters')
  }

  /** Called again and again while it is connected. */
  review(): void {
    const now = performance.now()
    this.#time += Math.min(now - this.#lookedAt, longestStep)
    this.#lookedAt = now
    for (const known of [this.#known, this.#hosts])
      for (const [key, until] of known) if (until <= this.#time) known.delete(key)
    if (this.#hasLeft) return
    const isDue = this.#time >= Math.min(this.#answerAt ?? Infinity, this.#saidAt + announceInterval)
    if (isDue || this.#said !== this.#own.join()) this.#say('runs')
  }

  /** This host runs no items any more. */
  leave(): void {
    if (!this.#hasLeft) this.#say('leaves')
    this.#hasLeft = true
  }

  /**
   * Another host runs items of the method with this contract, or had no time yet to say so.
   * Undefined: with any.
   */
  has(target: string, contract: string | undefined): boolean {
    if (contract === undefined) return this.hasMethod(target)
    if (this.#time < this.#settledAt) return true
    return [contract, undefined].some((one) => this.#known.has(versionText({ method: target, contract: one })))
  }

  /** Another host runs items of the method, or had no time yet to say so. */
  hasMethod(target: string): boolean {
    if (this.#time < this.#settledAt) return true
    return [...this.#known.keys()].some((version) => version.startsWith(`${target} `))
  }

  /** Another host runs items of the method with another contract. */
  hasOther(target: string, contract: string): boolean {
    const own = versionText({ method: target, contract })
    return [...this.#known.keys()].some((version) => version !== own && version.startsWith(`${target} `))
  }

  get #own(): string[] {
    const { services, calls } = this.#parts
    return services.flatMap((service) => calls.versions(service).map((version) => `${service}.${version}`))
  }

  #say(state: State): void {
    const versions = this.#own
    this.#said = versions.join()
    this.#saidAt = this.#time
    this.#answerAt = undefined
    if (this.#streams === undefined || (versions.length === 0 && state !== 'enters')) return
    const { connection, versions: subject } = this.#streams
    tryTo(() => connection.publish(subject, JSON.stringify([this.#host, state, versions])))
  }

  #heard(text: string): void {
    const said = read(text)
    if (said === undefined || said.host === this.#host) return
    const { host, state, versions } = said
    if (this.#hosts.has(host) || this.#hosts.size < mostHosts) this.#hosts.set(host, this.#time + memberTimeout)
    const spread = Math.min(announceInterval, answerSpread * this.#hosts.size)
    if (state === 'enters') this.#answerAt ??= this.#time + Math.random() * spread
    for (const version of versions) {
      const known = this.#known.get(version)
      if (known === undefined && this.#known.size >= mostVersions) continue
      const until =
        state === 'leaves' ? Math.min(known ?? Infinity, this.#time + settleTime) : this.#time + memberTimeout
      this.#known.set(version, until)
    }
  }
}

/** Undefined for anything else: every member of the cluster may publish any message. */
function read(text: string): { host: string; state: State; versions: string[] } | undefined {
  try {
    const [host, state, versions] = JSON.parse(text) as unknown[]
    const isText = (one: unknown): one is string => typeof one === 'string' && one.length <= mostText
    if (!isText(host) || !Array.isArray(versions)) return undefined
    if (state !== 'enters' && state !== 'runs' && state !== 'leaves') return undefined
    return { host, state, versions: versions.filter(isText) }
  } catch {
    return undefined
  }
}
