import type { Fit } from '../../../contract/queues/method-version.ts'
import type { QueueCalls } from '../../../mesh/typed/queue-calls.ts'
import type { QueueSettings } from '../../../shared/queues.ts'
import type { RepeatedLines } from '../../../shared/output/repeated-lines.ts'
import { splitTarget } from '../../item-queue.ts'
import type { StoredItem } from '../item-message.ts'
import type { MemberVersions } from '../member-versions.ts'
import { type Attempt, countOf, moveToLater } from './attempt.ts'

export interface OtherVersionsParts {
  readonly calls: Pick<QueueCalls, 'fitOf'>
  readonly members: Pick<MemberVersions, 'has' | 'hasOther' | 'hasMethod'>
  readonly settings: Pick<QueueSettings, 'maxDepth'>
  readonly lines: RepeatedLines
}

/** Milliseconds until an item that is left comes to a host again. */
const shortestPause = 1_000
/** Milliseconds between two of them, if they are many: each costs about a dozen messages. */
const spacing = 10
/** Items of a method that this host leaves at a time. `later` has room for those of many hosts. */
const mostLeft = 1_000
/** The part of `queues.maxDepth` that they may be, because items with a delay share their room. */
const mostPart = 10
/** The part of these that are still left when it takes others again. */
const resumedAt = 0.9

/**
 * Items of versions of methods that this host does not have and another one has. This host leaves
 * them to that one: it moves them to the stream `later`, where they take no place of the method's
 * concurrency, and come to any host again. That does not count as an attempt.
 */
export class OtherVersions {
  readonly #parts: OtherVersionsParts
  /** By target: when those that were left come again (`performance.now()`). */
  readonly #left = new Map<string, number[]>()
  readonly #full = new Set<string>()

  constructor(parts: OtherVersionsParts) {
    this.#parts = parts
  }

  /** Whether it is to be left to another host. */
  owns({ item, target }: Attempt): boolean {
    const { members } = this.#parts
    const contract = contractOf(item)
    const fit = this.#fitOf(target, contract)
    if (fit === 'same') return false
    return members.has(target, contract) || (fit === 'none' && members.hasMethod(target))
  }

  /** No instance of this host has the method, and another host has it. */
  areAll(target: string): boolean {
    return this.#fitOf(target, undefined) === 'none' && this.#parts.members.hasMethod(target)
  }

  /**
   * Whether a host that had it before may have left it, and ended before it took it off the stream
   * `ready`. Over a slow network an item comes again for other reasons, and each move takes long.
   */
  mayHaveLeft({ item, target, delivery }: Attempt): boolean {
    const contract = contractOf(item)
    if (contract === undefined || countOf(delivery) === 1 || delivery.streams.delay > 0) return false
    return this.#parts.members.hasOther(target, contract)
  }

  /** Rejects if it stays where it is. */
  async leave({ item, target, number, delivery }: Attempt): Promise<void> {
    const left = this.#leftOf(target)
    const pause = Math.max(shortestPause, left.length * spacing)
    this.#left.set(target, [...left, performance.now() + pause])
    const what = 'items of another version of the method are left to the hosts that have it'
    this.#parts.lines.add('info', `queue ${target}: ${what}`, `${target} versions`)
    await moveToLater({ ...item, attempts: number - 1, due: Date.now() + pause, pause }, target, delivery)
  }

  /** This host has left so many that it takes no more items of the method for a while. */
  isFull(target: string): boolean {
    const most = Math.min(mostLeft, this.#parts.settings.maxDepth / mostPart)
    const left = this.#leftOf(target).length
    const isFull = left >= Math.max(1, this.#full.has(target) ? most * resumedAt : most)
    if (isFull) this.#full.add(target)
    else this.#full.delete(target)
    return isFull
  }

  #leftOf(target: string): number[] {
    const now = performance.now()
    return (this.#left.get(target) ?? []).filter((due) => due > now)
  }

  #fitOf(target: string, contract: string | undefined): Fit {
    const [service, method] = splitTarget(target)
    return this.#parts.calls.fitOf(service, { method, contract })
  }
}

/** Any member of the cluster may have written it. */
function contractOf({ origin: { contract } }: StoredItem): string | undefined {
  return typeof contract === 'string' ? contract : undefined
}
