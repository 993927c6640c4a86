import type { Trace } from '../context.ts'
import { BusbarError } from '../errors.ts'
import { isSchema, type InputOf, type OutputOf, type Schema } from '../schema.ts'

/** A kind of event that a contract declares beside its methods. */
export interface Topic<S extends Schema = Schema> {
  readonly kind: 'topic'
  /** The contract that declares it, and its name there. Both are '' before `service()`. */
  readonly service: string
  readonly name: string
  readonly value: S
  readonly docs: string | undefined
}

export type Topics = Readonly<Record<string, Topic>>

/** The event as its publisher passes it, and as a subscriber gets it. */
export type GivenOf<T extends Topic> = InputOf<T['value']>
export type ReceivedOf<T extends Topic> = OutputOf<T['value']>

/**
 * `emit`: one instance of each subscribing service gets the event. `broadcast`: every instance
 * does.
 */
export type Reach = 'emit' | 'broadcast'

/** The result of `emit` and `broadcast`. */
export interface Delivery {
  /** Services of this app that have accepted it; for a broadcast, instances. */
  readonly accepted: number
  /** Subscribers of this app that have not: their queues were full, or none of them serves. */
  readonly dropped: number
}

/** Publishes a validated event. */
export type Publish = (topic: Topic, reach: Reach, value: unknown) => Promise<Delivery>

/** What caused an event. */
export interface EventOrigin {
  /** The service that published it. Undefined if another app did. */
  readonly caller: string | undefined
  readonly hops: number
  readonly trace: Trace | undefined
}

/** Declares a topic of a contract: `placed: topic(Order)`. */
export function topic<S extends Schema>(value: S, { docs }: { readonly docs?: string } = {}): Topic<S> {
  if (!isSchema(value))
    throw new BusbarError('CONTRACT_INVALID', {
      message: 'the value of a topic is not a Standard Schema',
      hint: 'Use a schema of Zod 4, Valibot or ArkType, or type<T>().',
    })
  return { kind: 'topic', service: '', name: '', value, docs }
}

/** The same in all apps. */
export function keyOf({ service, name }: Topic): string {
  return `${service}.${name}`
}
