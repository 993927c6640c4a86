import { PacedPublisher } from '../../mesh/cluster/paced-publisher.ts'
import type { NatsConnection } from '../../shared/cluster/connection.ts'
import {
  apiCode,
  type ConsumerConfig,
  isApiError,
  type JetStreamClient,
  type JetStreamManager,
  type JetStreamModules,
  type PubAck,
} from '../../shared/cluster/jetstream.ts'
import type { QueueSettings } from '../../shared/queues.ts'
import { splitTarget } from '../item-queue.ts'
import type { NetworkPace } from './network-pace.ts'
import { ServerPings } from './server-pings.ts'
import { isTooLarge } from './queue-faults.ts'
import { type ItemStream, type QueueStream, streamSettings } from './stream-settings.ts'

/** Milliseconds. A server that has just lost its leader does not answer a request later either. */
const readTimeout = 2_000

/**
 * Milliseconds of a dial, and of each request, by a connection of its own. A link that large
 * messages fill may hold several seconds of them.
 */
const asideTimeout = 20_000

/** Milliseconds until the server has kept a message that it has. */
const storeTimeout = 5_000

/** Bytes of a message's head without the id that it has. */
const headOfId = 'NATS/1.0\r\nNats-Msg-Id: \r\n\r\n'.length

export interface ItemStreamsParts {
  readonly connection: NatsConnection
  readonly modules: JetStreamModules
  /** The name of the cluster. */
  readonly cluster: string
  /** Servers that keep each message. */
  readonly replicas: number
  readonly pace: NetworkPace
  /** Bytes that the connection has received. */
  readonly bytesRead: () => number
  /** Opens another connection. */
  readonly dial: (timeout: number) => Promise<NatsConnection>
  /** Looks for another `max_payload` of the server. Never rejects. */
  readonly renewLimit: () => Promise<void>
}

/** `askedAt`: the server has answered after that (`performance.now()`). */
type WaitWatcher = (config: ConsumerConfig, askedAt: number) => void

/** The streams, by one connection. */
export class ItemStreams {
  readonly connection: NatsConnection
  readonly client: JetStreamClient
  readonly pings: ServerPings
  readonly #parts: ItemStreamsParts
  readonly #publisher: PacedPublisher
  #manager: JetStreamManager | undefined
  #reader: JetStreamManager | undefined
  /** When the stream `ready` was made, by its server. */
  #madeAt = ''
  /** By consumer. */
  readonly #waitWatchers = new Map<string, WaitWatcher>()

  constructor(parts: ItemStreamsParts) {
    this.#parts = parts
    this.connection = parts.connection
    this.pings = new ServerPings(parts.connection, parts.bytesRead)
    this.#publisher = new PacedPublisher(parts.connection)
    this.client = parts.modules.jetstream.jetstream(parts.connection)
  }

  /**
   * Creates them, or applies the settings of this host. `timeout`: milliseconds of each request.
   */
  async open(settings: QueueSettings, timeout: number): Promise<void> {
    const { jetstream } = this.#parts.modules
    this.#manager = await jetstream.jetstreamManager(this.connection, { timeout })
    for (const [stream, own] of streamSettings(settings, jetstream)) await this.#ensure(stream, own)
    this.#manager = await jetstream.jetstreamManager(this.connection, { checkAPI: false })
    this.#reader = await jetstream.jetstreamManager(this.connection, { checkAPI: false, timeout: readTimeout })
  }

  /** Makes those that are not there. Returns their names. */
  async restore(settings: QueueSettings): Promise<string[]> {
    const made: string[] = []
    for (const [stream, own] of streamSettings(settings, this.modules.jetstream)) {
      const name = this.nameOf(stream)
      const isThere = await this.manager.streams.info(name).catch((error: unknown) => {
        if (!isApiError(error, apiCode.streamNotFound)) throw error
      })
      if (isThere !== undefined) continue
      await this.#ensure(stream, own)
      made.push(name)
    }
    return made
  }

  /** Milliseconds that an answer may take longer than usual. */
  get delay(): number {
    return this.#parts.pace.delay
  }

  /** Resolves when the server has kept the message. */
  publish(stream: ItemStream, target: string, data: Uint8Array, options: { msgID?: string }): Promise<PubAck> {
    return this.publishTo(this.subjectOf(stream, target), data, options)
  }

  /** As {@link publish}. */
  async publishTo(subject: string, data: Uint8Array, options: { msgID?: string } = {}): Promise<PubAck> {
    try {
      return await this.#send(subject, data, options)
    } catch (error) {
      if (!isTooLarge(error)) throw error
      await this.renewLimit()
      return await this.#send(subject, data, options)
    }
  }

  #send(subject: string, data: Uint8Array, options: { msgID?: string }): Promise<PubAck> {
    return new Promise((resolve) =>
      this.#publisher.send(data.length, () => {
        const timeout = storeTimeout + this.delay + this.#publisher.transitTime
        resolve(this.client.publish(subject, data, { ...options, timeout }))
      }),
    )
  }

  /** As {@link ItemStreamsParts.renewLimit}. */
  async renewLimit(): Promise<void> {
    await this.#parts.renewLimit()
  }

  /** Bytes that a message with this id may have, besides its head. */
  roomOf(msgID: string): number {
    return (this.connection.info?.max_payload ?? 0) - headOfId - Buffer.byteLength(msgID)
  }

  /** Milliseconds that what was published may take to reach the server. */
  get transitTime(): number {
    return this.#publisher.transitTime
  }

  /** The connection is lost or closes. */
  release(): void {
    this.#publisher.release()
  }

  get manager(): JetStreamManager {
    return this.#manager!
  }

  /** For looks that can be repeated. */
  get reader(): JetStreamManager {
    return this.#reader!
  }

  /** Over a slow network by a connection of its own. */
  async look<T>(work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    return await (this.#parts.pace.isSlow ? this.aside(work) : work(this.manager))
  }

  /** By a connection of its own: answers on the first one come behind large messages. */
  async aside<T>(work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    const connection = await this.#parts.dial(asideTimeout)
    try {
      const settings = { checkAPI: false, timeout: asideTimeout }
      return await work(await this.modules.jetstream.jetstreamManager(connection, settings))
    } finally {
      await connection.close()
    }
  }

  get modules(): JetStreamModules {
    return this.#parts.modules
  }

  /** False: `ready` was made anew between the two, and counts its messages from 1 again. */
  hasSameItems(other: ItemStreams): boolean {
    return this.#madeAt === other.#madeAt
  }

  nameOf(stream: QueueStream): string {
    return `busbar_${this.#parts.cluster}_queue_${stream}`
  }

  /** `target`: `<service>.<method>`. Default: every one. */
  subjectOf(stream: ItemStream, target?: string): string {
    const rest = target === undefined ? '>' : splitTarget(target).map(encodeToken).join('.')
    return `busbar.${this.#parts.cluster}.queue.${stream}.${rest}`
  }

  /** `list`: `<host>.<connection>`. Default: those of all lists. */
  begunSubject(list = '*.*'): string {
    return `busbar.${this.#parts.cluster}.queue.begun.${list}`
  }

  /** Methods whose first item has come are named here, so that hosts need not look for them. */
  get news(): string {
    return `busbar.${this.#parts.cluster}.queue.news`
  }

  /** Hosts tell each other here which versions of methods they run. */
  get versions(): string {
    return `busbar.${this.#parts.cluster}.queue.versions`
  }

  targetOf(subject: string): string {
    return subject.split('.').slice(-2).map(decodeToken).join('.')
  }

  /** A name of a consumer: no dot, and no character of wildcards and paths. */
  consumerOf(target: string): string {
    return splitTarget(target).map(encodeToken).join('=')
  }

  /** How many messages there are, by target. */
  async count(stream: ItemStream): Promise<Map<string, number>> {
    const { state } = await this.reader.streams.info(this.nameOf(stream), { subjects_filter: '>' })
    return new Map(Object.entries(state.subjects ?? {}).map(([subject, count]) => [this.targetOf(subject), count]))
  }

  /** `see` gets the config that a consumer of `ready` has, at each look. */
  watchWait(consumer: string, see: WaitWatcher): void {
    this.#waitWatchers.set(consumer, see)
  }

  /** Of these, how many are at a host that attempts them. */
  async countRunning(): Promise<Map<string, number>> {
    const running = new Map<string, number>()
    const askedAt = performance.now()
    for await (const { name, config, num_ack_pending } of this.reader.consumers.list(this.nameOf('ready'))) {
      this.#waitWatchers.get(name)?.(config, askedAt)
      if (config.filter_subject !== undefined) running.set(this.targetOf(config.filter_subject), num_ack_pending)
    }
    return running
  }

  async #ensure(stream: QueueStream, settings: object): Promise<void> {
    const { File } = this.#parts.modules.jetstream.StorageType
    const subjects = [stream === 'begun' ? this.begunSubject() : this.subjectOf(stream)]
    const config = {
      ...settings,
      name: this.nameOf(stream),
      subjects,
      storage: File,
      num_replicas: this.#parts.replicas,
    }
    const { created } = await this.manager.streams.add(config).catch((error: unknown) => {
      if (!isApiError(error, apiCode.streamNameInUse)) throw error
      return this.manager.streams.update(config.name, config)
    })
    if (stream === 'ready') this.#madeAt = created
  }
}

/** False: the connection is closed. What was to be said comes by another way. */
export function tryTo(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

/** Names as tokens of subjects. */

function encodeToken(text: string): string {
  return encodeURIComponent(text).replaceAll('*', '%2A').replaceAll('.', '%2E')
}

/** Anybody in the cluster may publish to a subject that is not ours. */
function decodeToken(token: string): string {
  try {
    return decodeURIComponent(token)
  } catch {
    return token
  }
}
