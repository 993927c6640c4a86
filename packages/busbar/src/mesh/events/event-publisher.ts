import { BusbarError, type ErrorRecord } from '../../contract/errors.ts'
import { type Delivery, type EventOrigin, keyOf, type Reach, type Topic } from '../../contract/events/topic.ts'
import { toInputInvalid } from '../../contract/host/failures.ts'
import { cloneValue } from '../../contract/value/clone.ts'
import { startRunningTimeout } from '../../shared/time/running-timeout.ts'
import { type EncodedValue, encodeValue } from '../links/frames/encoded-value.ts'
import type { LocalEndpoint, RemoteEndpoint } from '../routing/endpoint.ts'
import type { Router } from '../routing/router.ts'
import { currentScope } from '../scope.ts'
import { currentCall } from '../typed/call-contexts.ts'

/** An event on its way. */
export interface MeshEvent extends EventOrigin {
  /** Of `keyOf`. */
  readonly topic: string
  /** A copy of what was published. Each subscriber gets its own. */
  readonly value: unknown
  readonly encoded: EncodedValue
}

/** Carries events to the other apps of the cluster. */
export interface ClusterPublisher {
  /** Throws INPUT_INVALID for an event that is larger than the servers allow. */
  check(event: MeshEvent): void
  /** `except`: services that have it already. Of an `emit` they get no more. */
  publish(reach: Reach, event: MeshEvent, except: readonly string[]): void
}

export interface EventPublisherParts {
  readonly router: Router
  /** The longest chain of calls and events that cause each other. */
  readonly maxHops: number
  /** No instance of the service has accepted an event. */
  readonly countDropped: (service: string) => void
}

/**
 * `refused`: it has certainly not accepted the event. `lost`: nobody knows, so no other instance
 * gets it.
 */
type Outcome = 'accepted' | 'refused' | 'lost'

/** Milliseconds until an instance in another worker has said that it accepts an event. */
const acceptTimeout = 10_000

/** Passes the events of this thread's services to the instances that subscribe. */
export class EventPublisher {
  /** Set in an app with a cluster. */
  cluster: ClusterPublisher | undefined
  readonly #parts: EventPublisherParts
  /**
   * By topic: the services that have had it. While none of their instances serves, events are
   * dropped.
   */
  readonly #known = new Map<string, Set<string>>()
  #turn = 0

  constructor(parts: EventPublisherParts) {
    this.#parts = parts
  }

  readonly publish = async (topic: Topic, reach: Reach, value: unknown): Promise<Delivery> => {
    const event = this.#eventOf(topic, value)
    this.cluster?.check(event)
    const services = this.#subscribersOf(event.topic)
    const outcomes = await Promise.all(services.map((one) => this.#toService(one, reach, event)))
    // A broadcast is for the instances of other hosts, too, whoever has it here.
    const reached = reach === 'emit' ? services.filter((_, at) => outcomes[at]!.accepted > 0) : []
    this.cluster?.publish(reach, event, reached)
    return {
      accepted: outcomes.reduce((sum, { accepted }) => sum + accepted, 0),
      dropped: outcomes.reduce((sum, { dropped }) => sum + dropped, 0),
    }
  }

  #eventOf(topic: Topic, value: unknown): MeshEvent {
    const scope = currentScope()
    const { maxHops } = this.#parts
    const hops = (scope?.hops ?? 0) + 1
    if (hops > maxHops) throw hopLimit(topic, maxHops)
    try {
      const trace = scope?.trace ?? currentCall(scope)?.cause
      return {
        topic: keyOf(topic),
        caller: scope?.service,
        hops,
        trace,
        value: cloneValue(value),
        encoded: encodeValue(value),
      }
    } catch (error) {
      throw toInputInvalid({ service: topic.service, method: topic.name }, error)
    }
  }

  #subscribersOf(topic: string): string[] {
    const { router } = this.#parts
    const known = this.#known.get(topic) ?? new Set<string>()
    for (const service of router.names) {
      if (router.subscribers(service, topic).length > 0) known.add(service)
      // A service without the subscription has replaced the one that had it, or has gone.
      else if (router.serves(service)) known.delete(service)
    }
    for (const service of known) if (!router.names.includes(service)) known.delete(service)
    this.#known.set(topic, known)
    return [...known]
  }

  async #toService(service: string, reach: Reach, event: MeshEvent): Promise<Delivery> {
    const instances = this.#parts.router.subscribers(service, event.topic)
    if (reach === 'emit' || instances.length === 0) {
      const isAccepted = (await this.#toOne(instances, event)) === 'accepted'
      if (!isAccepted) this.#parts.countDropped(service)
      return { accepted: Number(isAccepted), dropped: Number(!isAccepted) }
    }
    const outcomes = await Promise.all(instances.map((one) => deliver(one, event)))
    const accepted = outcomes.filter((outcome) => outcome === 'accepted').length
    const dropped = outcomes.length - accepted
    for (let left = dropped; left > 0; left--) this.#parts.countDropped(service)
    return { accepted, dropped }
  }

  /** The instance in this thread, unless an event would wait there; the others take turns. */
  async #toOne(instances: (LocalEndpoint | RemoteEndpoint)[], event: MeshEvent): Promise<Outcome> {
    const here = instances.filter((one) => one.at === 'here')
    const there = instances.filter((one) => one.at === 'link')
    const from = there.length === 0 ? 0 : this.#turn++ % there.length
    const others = [...there.slice(from), ...there.slice(0, from)]
    const isBusy = here[0]?.typed?.events?.isBusy(event.topic) === true
    for (const one of isBusy ? [...others, ...here] : [...here, ...others]) {
      const outcome = await deliver(one, event)
      if (outcome !== 'refused') return outcome
    }
    return 'refused'
  }
}

async function deliver(endpoint: LocalEndpoint | RemoteEndpoint, event: MeshEvent): Promise<Outcome> {
  const { topic, caller, hops, trace } = event
  if (endpoint.at === 'link') return await deliverByLink(endpoint, event)
  const isAccepted = endpoint.typed?.events?.accept(topic, cloneValue(event.value), { caller, hops, trace })
  return isAccepted === true ? 'accepted' : 'refused'
}

function deliverByLink({ link, service }: RemoteEndpoint, event: MeshEvent): Promise<Outcome> {
  const { topic: method, caller, hops, trace } = event
  const head = {
    service,
    kind: 'event',
    method,
    caller,
    hops,
    trace,
    timeLeft: undefined,
    metadata: undefined,
  } as const
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const channel = link.open(head, event.encoded.copy(), true, {
    onReply: () => resolve('accepted'),
    onError: (_error: ErrorRecord, notStarted: boolean) => resolve(notStarted ? 'refused' : 'lost'),
  })
  const clearLate = startRunningTimeout(acceptTimeout, () => {
    channel.cancel({
      code: 'DEADLINE_EXCEEDED',
      message: `the event ${method} was not accepted within ${acceptTimeout / 1000} s`,
      service,
    })
    resolve('lost')
  })
  void promise.then(clearLate)
  return promise
}

function hopLimit(topic: Topic, maxHops: number): BusbarError {
  return new BusbarError('HOP_LIMIT', {
    message: `the event ${keyOf(topic)} exceeds the limit of ${maxHops} calls and events that cause one another`,
    hint: 'Look for a circle of calls and events.',
    service: topic.service,
  })
}
