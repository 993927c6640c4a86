import { refusal, faultOf } from '../call/call-options.ts'
import type { CallSite } from '../call/live-call.ts'
import type { Metadata } from '../context.ts'
import { BusbarError } from '../errors.ts'
import { inputInvalid, toInputInvalid } from '../host/failures.ts'
import type { Method, MethodTypes } from '../method.ts'
import { checkOf } from '../schema.ts'
import { encodeJson } from '../value/encode.ts'

export interface EnqueueOptions {
  /**
   * Identifies the item, also for the method. Within the queue's `window` a second item of the
   * method with the same id is not added. Default: a new id.
   */
  readonly id?: string
  /** Milliseconds until the first attempt at the earliest. Default: 0. */
  readonly delay?: number
  /** Metadata of the call that runs it. */
  readonly metadata?: Metadata
}

export interface Enqueued {
  readonly id: string
  /** There was an item with this id: nothing was added. */
  readonly duplicate: boolean
}

/** Resolves when the item is on disk. */
export type Enqueue<Types extends MethodTypes> = undefined extends Types['given']
  ? (input?: Types['given'], options?: EnqueueOptions) => Promise<Enqueued>
  : (input: Types['given'], options?: EnqueueOptions) => Promise<Enqueued>

/** An item on its way into the queue. */
export interface NewItem {
  readonly service: string
  readonly method: string
  readonly id: string | undefined
  readonly delay: number
  /** JSON with tags. Undefined: no input. */
  readonly input: string | undefined
  readonly metadata: Metadata | undefined
  /** The method as the enqueuer's contract has it. */
  readonly spec: Method
}

/** Puts a checked item into the queue. */
export type AddItem = (item: NewItem) => Promise<Enqueued>

/** Characters of an id. */
const maxId = 256
/** Milliseconds. A year. */
const maxDelay = 366 * 86_400_000

/** The `enqueue` of one method of a client. Rejects with a BusbarError. */
export function enqueuer(
  site: Pick<CallSite, 'service' | 'method'>,
  spec: Method,
  add: AddItem | undefined,
): (input?: unknown, options?: EnqueueOptions) => Promise<Enqueued> {
  const check = checkOf(spec.input)
  return async (input, options = {}) => {
    const { id, delay = 0, metadata } = options
    checkOptions(site, id, delay)
    const fault = faultOf(site, metadata === undefined ? {} : { metadata })
    if (fault !== undefined) throw fault
    // The item keeps the value as it was given, and the service's own schema converts it.
    const { issues } = (await check?.(input)) ?? {}
    if (issues !== undefined) throw inputInvalid(site, issues)
    if (add === undefined) throw noQueue(site)
    return await add({ ...site, id, delay, metadata, spec, input: spec.input && encode(site, input) })
  }
}

function encode(site: Pick<CallSite, 'service' | 'method'>, input: unknown): string | undefined {
  try {
    return encodeJson(input)
  } catch (error) {
    throw toInputInvalid(site, error)
  }
}

function checkOptions(site: Pick<CallSite, 'service' | 'method'>, id: unknown, delay: unknown): void {
  if (id !== undefined && (typeof id !== 'string' || id === '' || id.length > maxId))
    throw refusal(site, ['id'], `it is not a text of 1 to ${maxId} characters`)
  if (typeof delay !== 'number' || !(delay >= 0 && delay <= maxDelay))
    throw refusal(site, ['delay'], `it is not a number of milliseconds from 0 to ${maxDelay}`)
}

function noQueue({ service, method }: Pick<CallSite, 'service' | 'method'>): BusbarError {
  return new BusbarError('QUEUE_UNAVAILABLE', {
    message: `${service}.${method} cannot be enqueued by a client with an address: only its app can keep the item`,
    hint: 'Enqueue it in a service or a program of the app, or by the client of startApp().',
    service,
  })
}
