import type { Context } from '../context.ts'
import { isMethodName } from '../contract.ts'
import { BusbarError } from '../errors.ts'
import type { Methods } from '../method.ts'
import type { Schema } from '../schema.ts'
import { keyOf, type ReceivedOf, type Topic } from './topic.ts'

/** Handlers by name: each handles the events of one topic. */
export type Subscriptions = Readonly<Record<string, Topic | SubscriptionOptions>>

export interface SubscriptionOptions<T extends Topic = Topic> {
  readonly topic: T
  /**
   * How many events an instance handles at a time. 1 handles those of one publisher in their order.
   * Default: 16. A service with a `concurrency` of its own never handles more than that.
   */
  readonly concurrency?: number
  /** How many more may wait in an instance. Default: 1,000. */
  readonly queue?: number
}

type TopicOf<S> = S extends SubscriptionOptions<infer T> ? T : S extends Topic ? S : never

/** The functions that an implementation has besides its methods. */
export type EventHandlers<S extends Subscriptions> = {
  readonly [Name in keyof S]: (event: ReceivedOf<TopicOf<S[Name]>>, context: Context) => unknown
}

/** One subscription of an implementation. */
export interface Subscription {
  /** The name of the function. */
  readonly handler: string
  /** Of {@link keyOf}. */
  readonly topic: string
  readonly value: Schema
  readonly concurrency: number
  readonly queue: number
}

const defaults = { concurrency: 16, queue: 1_000 } as const

/** Throws CONTRACT_INVALID. `before`: of the same service. */
export function toSubscriptions(
  service: string,
  methods: Methods,
  given: Subscriptions,
  before: readonly Subscription[],
): readonly Subscription[] {
  const all = [...before]
  for (const [handler, entry] of Object.entries(given)) {
    const { topic, ...options } = 'topic' in entry ? entry : { topic: entry }
    const { concurrency, queue } = { ...defaults, ...options }
    if (!isMethodName(handler) || Object.hasOwn(methods, handler) || all.some((one) => one.handler === handler))
      throw invalid(
        `${service} cannot name a handler of events ${JSON.stringify(handler)}`,
        'Use a name that begins with a letter, and that no method and no other handler has.',
      )
    if (topic?.kind !== 'topic' || topic.service === '')
      throw invalid(
        `${service}.${handler} subscribes to something that is not a topic of a contract`,
        'Write it as in `welcome: orders.topics.placed`.',
      )
    if (all.some((one) => one.topic === keyOf(topic)))
      throw invalid(`${service} has two handlers of ${keyOf(topic)}`, 'Call both functions from one handler.')
    for (const [name, value] of Object.entries({ concurrency, queue }))
      if (!Number.isSafeInteger(value) || value < 1)
        throw invalid(`the ${name} of ${service}.${handler} is ${String(value)}`, 'Use a whole number from 1.')
    all.push({ handler, topic: keyOf(topic), value: topic.value, concurrency, queue })
  }
  return all
}

function invalid(message: string, hint: string): BusbarError {
  return new BusbarError('CONTRACT_INVALID', { message, hint })
}
