import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type BegunCount, type BegunDelivery, countAll, encodeList, keyOf, type Listed } from './begun-counts.ts'
import type { ItemStreams } from '../item-streams.ts'

interface Entry extends BegunDelivery {
  /** `left`: it has begun, and this host does not bring its outcome any more. */
  stage: 'begins' | 'runs' | 'left'
}

/** More than run at a time. Messages that another host has completed stay in the list. */
const mostMessages = 5_000

/**
 * The deliveries by which attempts of this host have begun: a message in the stream `begun`, which
 * replaces the one before. It is kept before an attempt begins, so whoever gets the item after a
 * host has died knows that it had begun, and that an item which only came too late had not.
 * Attempts that begin in the same turn share a message.
 *
 * Each connection has a subject of its own, whose number is higher than that of the one before.
 * Only the highest one of a host counts: what a lost connection still sends may reach the server
 * later, with attempts that have not begun.
 */
export class BegunList {
  readonly #host = randomUUID()
  /** By message. */
  readonly #entries = new Map<string, Entry[]>()
  #streams: ItemStreams | undefined
  /** Of the connection, from 1. */
  #number = 0
  /** The list of the connection before may still be on the server. */
  #hasFormer = false
  #sent = 0
  /** Of those that were sent, the last one that the server has kept. */
  #kept = 0
  #keeping: Promise<void> | undefined
  #counting: Promise<ReadonlyMap<string, BegunCount>> | undefined

  /** Attempts that have not begun by the connection before do not begin. */
  connect(streams: ItemStreams): void {
    for (const entries of this.#entries.values())
      for (const entry of entries) if (entry.stage === 'begins') this.#delete(entry)
    this.#streams = streams
    if (++this.#number === 1) return
    this.#hasFormer = true
    this.#keep().catch(() => {})
  }

  /** By which it was connected last. */
  get streams(): ItemStreams {
    return this.#streams!
  }

  /** Resolves when the server has kept that an attempt begins. */
  async add({ seq, added, count }: BegunDelivery): Promise<void> {
    const key = keyOf({ seq, added })
    this.#entries.set(key, [...(this.#entries.get(key) ?? []), { seq, added, count, stage: 'begins' }])
    if (this.#entries.size > mostMessages) this.#entries.delete(this.#entries.keys().next().value!)
    await this.#keep()
  }

  /** False: it is not listed any more, and must not begin. */
  begin(delivery: BegunDelivery): boolean {
    const entry = this.#find(delivery)
    if (entry !== undefined) entry.stage = 'runs'
    return entry !== undefined
  }

  /** The message is off the stream. Its entries go with the next change: they harm nobody. */
  forget(delivery: BegunDelivery): void {
    this.#entries.delete(keyOf(delivery))
  }

  /** This host does not bring the outcome any more. */
  leave(delivery: BegunDelivery): void {
    const entry = this.#find(delivery)
    if (entry !== undefined) entry.stage = 'left'
  }

  /** The attempt has not begun. Resolves when the server knows. */
  async takeBack(delivery: BegunDelivery): Promise<void> {
    this.#delete(delivery)
    await this.#keep()
  }

  /** Rejects if the server does not keep the list. */
  async check(): Promise<void> {
    await this.#keep()
  }

  /**
   * A sign of life for what runs, which also goes to hosts that have got its message. And what the
   * server has not kept is sent again.
   */
  repeat(): void {
    const holds = [...this.#entries.values()].some((entries) => entries.some(({ stage }) => stage !== 'left'))
    if (holds || this.#kept < this.#sent) this.#keep().catch(() => {})
  }

  /** The attempts of a message that have begun, at all hosts. */
  async countOf(delivery: Pick<BegunDelivery, 'seq' | 'added'>): Promise<BegunCount> {
    this.#counting ??= nextTurn().then(() => {
      this.#counting = undefined
      const { streams } = this
      return streams.look((manager) => countAll(manager, streams))
    })
    return (await this.#counting).get(keyOf(delivery)) ?? { begun: 0, saidAt: 0 }
  }

  /** The host stops. Its list is of no use if each item has an outcome. Never rejects. */
  async close(): Promise<void> {
    if (this.#entries.size === 0 && this.#number > 0) await this.#purge('*')
  }

  /** Not one after the other: over a slow network, an answer takes as long as what is before it. */
  #keep(): Promise<void> {
    return (this.#keeping ??= this.#keepNextTurn())
  }

  async #keepNextTurn(): Promise<void> {
    await nextTurn()
    this.#keeping = undefined
    const [sent, number] = [++this.#sent, this.#number]
    const lists = [...this.#entries.values()].flat().map(listedOf)
    await this.streams.publishTo(this.streams.begunSubject(`${this.#host}.${number}`), encodeList(lists))
    this.#kept = Math.max(this.#kept, sent)
    if (!this.#hasFormer || number !== this.#number) return
    this.#hasFormer = false
    await this.#purge(`${number - 1}`)
  }

  /** Never rejects. */
  async #purge(number: string): Promise<void> {
    const { manager } = this.streams
    const filter = this.streams.begunSubject(`${this.#host}.${number}`)
    await manager.streams.purge(this.streams.nameOf('begun'), { filter }).catch(() => {})
  }

  #find({ seq, added, count }: BegunDelivery): Entry | undefined {
    return this.#entries.get(keyOf({ seq, added }))?.find((entry) => entry.count === count)
  }

  #delete(delivery: BegunDelivery): void {
    const key = keyOf(delivery)
    const others = (this.#entries.get(key) ?? []).filter(({ count }) => count !== delivery.count)
    if (others.length > 0) this.#entries.set(key, others)
    else this.#entries.delete(key)
  }
}

function listedOf({ seq, added, count, stage }: Entry): Listed {
  return [seq, added, count, stage === 'left' ? 0 : 1]
}
