import { currentMesh } from '../client/transport.ts'
import { BusbarError } from '../errors.ts'
import { inputInvalid } from '../host/failures.ts'
import { checkOf } from '../schema.ts'
import { type Delivery, type GivenOf, keyOf, type Publish, type Topic, type Topics } from './topic.ts'

/** The topics of a contract, to publish events. */
export type Publisher<T extends Topics> = {
  readonly [Name in keyof T]: {
    /**
     * One instance of each subscribing service gets the event. Resolves when they have accepted it;
     * their handlers run later. Rejects only for a value that the topic's schema refuses, or
     * outside an app.
     */
    emit(event: GivenOf<T[Name]>): Promise<Delivery>
    /** The same for every instance of each subscribing service. */
    broadcast(event: GivenOf<T[Name]>): Promise<Delivery>
  }
}

export type PublisherFunction = <T extends Topics>(contract: {
  readonly name: string
  readonly topics: T
}) => Publisher<T>

/** `publisher(orders).placed.emit(order)`: inside an app, from services and programs. */
export const publisher: PublisherFunction = (contract) =>
  publisherBy(contract, (topic, reach, value) => {
    const publish = currentMesh()?.publish
    if (publish === undefined) throw noMesh(topic)
    return publish(topic, reach, value)
  })

/** An object with exactly the contract's topics. */
export function publisherBy<T extends Topics>(contract: { readonly topics: T }, publish: Publish): Publisher<T> {
  const topics = Object.entries(contract.topics ?? {}).map(([name, topic]) => {
    const check = checkOf(topic.value)
    const checked = async (value: unknown): Promise<void> => {
      const { issues } = (await check?.(value)) ?? {}
      if (issues !== undefined) throw inputInvalid({ service: topic.service, method: name }, issues)
    }
    // Each subscriber gets the value as it was given, and its own schema converts it.
    const by = (reach: 'emit' | 'broadcast') => async (value: unknown) => {
      await checked(value)
      return await publish(topic, reach, value)
    }
    return [name, { emit: by('emit'), broadcast: by('broadcast') }]
  })
  return Object.fromEntries(topics) as Publisher<T>
}

function noMesh(topic: Topic): BusbarError {
  return new BusbarError('SERVICE_UNAVAILABLE', {
    message: `an event ${keyOf(topic)} was published outside an app, where there is no mesh`,
    hint: 'In a test, use the `publisher` that the implementation is created with, or startApp().',
    service: topic.service,
  })
}
