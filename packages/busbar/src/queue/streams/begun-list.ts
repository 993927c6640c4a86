import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { apiCode, isApiError, type JetStreamManager, type StoredMsg } from '../../shared/cluster/jetstream.ts'
import type { ItemStreams } from './item-streams.ts'

/** A delivery of a message of the stream `ready`. */
export interface BegunDelivery {
  /** The number of the message. A stream that is made anew counts from 1 again. */
  readonly seq: number
  /** When its item was enqueued, which tells such messages apart. */
  readonly added: number
  /** The number of the delivery, from 1. */
  readonly count: number
}

/** As the list holds it. */
type Entry = readonly [seq: number, added: number, count: number]

/** More than run at a time. Messages that another host has completed stay in the list. */
const mostMessages = 5_000
/** Lists that are read at a time. */
const atOnce = 50

/**
 * The deliveries by which attempts of this host have begun, by one connection: a message in the
 * stream `begun`, which replaces the one before. It is kept before an attempt begins, so whoever
 * gets the item after a host has died knows that it had begun, and that an item which only came too
 * late had not. Attempts that begin in the same turn share a message.
 *
 * Each connection has a list of its own: what a lost connection still sends must not replace it.
 */
export class BegunList {
  readonly streams: ItemStreams
  readonly #subject: string
  /** By message. */
  readonly #entries = new Map<string, Entry[]>()
  #keeping: Promise<void> | undefined
  #counting: Promise<ReadonlyMap<string, number>> | undefined

  constructor(streams: ItemStreams) {
    this.streams = streams
    this.#subject = streams.begunSubject(randomUUID())
  }

  /** Resolves when the server has kept that an attempt begins. */
  async add(delivery: BegunDelivery): Promise<void> {
    const { seq, added, count } = delivery
    const key = keyOf(delivery)
    this.#entries.set(key, [...(this.#entries.get(key) ?? []), [seq, added, count]])
    if (this.#entries.size > mostMessages) this.#entries.delete(this.#entries.keys().next().value!)
    await this.#keep()
  }

  /** The message is off the stream. Its entries go with the next change: they harm nobody. */
  forget(delivery: BegunDelivery): void {
    this.#entries.delete(keyOf(delivery))
  }

  /** The attempt has not begun. Resolves when the server knows. */
  async takeBack(delivery: BegunDelivery): Promise<void> {
    const key = keyOf(delivery)
    const others = (this.#entries.get(key) ?? []).filter(([, , count]) => count !== delivery.count)
    if (others.length > 0) this.#entries.set(key, others)
    else this.#entries.delete(key)
    await this.#keep()
  }

  /** How many attempts of a message have begun, at all hosts. */
  async countOf(delivery: Pick<BegunDelivery, 'seq' | 'added'>): Promise<number> {
    this.#counting ??= nextTurn().then(() => {
      this.#counting = undefined
      return this.streams.look((manager) => countAll(manager, this.streams))
    })
    return (await this.#counting).get(keyOf(delivery)) ?? 0
  }

  /** The host stops. Its list is of no use if each item has an outcome. Never rejects. */
  async close(): Promise<void> {
    if (this.#entries.size > 0) return
    const { manager } = this.streams
    await manager.streams.purge(this.streams.nameOf('begun'), { filter: this.#subject }).catch(() => {})
  }

  /** Not one after the other: over a slow network, an answer takes as long as what is before it. */
  #keep(): Promise<void> {
    return (this.#keeping ??= this.#keepNextTurn())
  }

  async #keepNextTurn(): Promise<void> {
    await nextTurn()
    this.#keeping = undefined
    const entries = [...this.#entries.values()].flat()
    await this.streams.publishTo(this.#subject, Buffer.from(JSON.stringify(entries)))
  }
}

async function countAll(manager: JetStreamManager, streams: ItemStreams): Promise<ReadonlyMap<string, number>> {
  const name = streams.nameOf('begun')
  const { state } = await manager.streams.info(name, { subjects_filter: '>' })
  const subjects = Object.keys(state.subjects ?? {})
  const begun = new Map<string, number>()
  for (let at = 0; at < subjects.length; at += atOnce) {
    const some = subjects.slice(at, at + atOnce)
    const lists = await Promise.all(some.map((subject) => lastOf(manager, name, subject)))
    for (const [seq, added] of lists.flatMap(entriesOf)) {
      const key = keyOf({ seq, added })
      begun.set(key, (begun.get(key) ?? 0) + 1)
    }
  }
  return begun
}

/** Its host may have deleted it meanwhile. */
async function lastOf(manager: JetStreamManager, stream: string, subject: string): Promise<StoredMsg | undefined> {
  try {
    return (await manager.streams.getMessage(stream, { last_by_subj: subject })) ?? undefined
  } catch (error) {
    if (isApiError(error, apiCode.noMessage)) return undefined
    throw error
  }
}

/** Every member of the cluster may publish anything. */
function entriesOf(message: StoredMsg | undefined): Entry[] {
  try {
    const list: unknown = JSON.parse(Buffer.from(message?.data ?? []).toString())
    return Array.isArray(list) ? list.filter((entry): entry is Entry => Array.isArray(entry)) : []
  } catch {
    return []
  }
}

function keyOf({ seq, added }: Pick<BegunDelivery, 'seq' | 'added'>): string {
  return `${seq} ${added}`
}
