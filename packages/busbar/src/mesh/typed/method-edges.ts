import { outside, type Transport } from '../../shared/metrics/edge-table.ts'
import type { Edge, Meter } from '../meter.ts'
import { answererAt, type Endpoint, transportTo } from '../routing/endpoint.ts'
import { type CallEdge, counting, statusOf, succeeded } from '../../contract/call/call-edge.ts'

/** The edges of one method's callers. Most methods have one caller in a thread. */
export class MethodEdges {
  readonly #meter: Meter | undefined
  readonly #service: string
  readonly #method: string
  readonly #known = new Map<string, Edge>()
  #caller: string | undefined
  #transport: Transport | undefined
  #last: Edge | undefined

  constructor(meter: Meter | undefined, service: string, method: string) {
    this.#meter = meter
    this.#service = service
    this.#method = method
  }

  to(endpoint: Endpoint, caller: string | undefined): Edge | undefined {
    if (this.#meter === undefined) return undefined
    const transport = transportTo(endpoint)
    if (transport !== this.#transport || caller !== this.#caller) this.#select(this.#meter, caller, transport)
    return this.#last
  }

  #select(meter: Meter, caller: string | undefined, transport: Transport): void {
    const key = `${transport} ${caller ?? outside}`
    let edge = this.#known.get(key)
    if (edge === undefined) {
      edge = meter.rpc(caller, this.#service, this.#method, transport)
      this.#known.set(key, edge)
    }
    this.#caller = caller
    this.#transport = transport
    this.#last = edge
  }
}

/** Counts a call that `endpoint` answers. */
export function countCall(
  call: () => Promise<unknown>,
  edge: CallEdge | undefined,
  endpoint: Endpoint,
): Promise<unknown> {
  if (edge === undefined) return call()
  const callee = answererAt(endpoint)
  const counted: CallEdge = {
    begin: () => edge.begin(),
    retried: () => edge.retried(),
    end: (status, began) => edge.end(status, began, callee),
  }
  return counting(counted, edge.begin(), call)(undefined)
}

/**
 * Counts a stream for the edge of its caller, from now to its end, its failure, or until the caller
 * leaves.
 */
export function countStream(
  values: AsyncIterator<unknown>,
  edge: CallEdge | undefined,
  endpoint: Endpoint,
): AsyncIterator<unknown> {
  if (edge === undefined) return values
  const began = edge.begin()
  let isOver = false
  const end = (status: number): void => {
    if (isOver) return
    isOver = true
    edge.end(status, began, answererAt(endpoint))
  }
  return {
    next: async () => {
      try {
        const step = await values.next()
        if (step.done === true) end(succeeded)
        return step
      } catch (error) {
        end(statusOf(error))
        throw error
      }
    },
    return: async (value) => {
      end(succeeded)
      return (await values.return?.(value)) ?? { done: true, value }
    },
  }
}
