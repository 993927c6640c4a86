import type { CallOptions } from '../call/call-types.ts'
import type { Contract } from '../contract.ts'
import type { Publish } from '../events/topic.ts'
import type { Method } from '../method.ts'
import type { AddItem } from '../queues/enqueue.ts'

/**
 * A method of another service, ready to be called; for a stream, it returns what the caller
 * iterates.
 */
export type BoundMethod = (
  input: unknown,
  options: CallOptions | undefined,
) => Promise<unknown> | AsyncIterable<unknown>

/** How calls reach a service: everything that a client needs to know about its location. */
export interface CallTransport {
  /** Called once per method and client. `method` is undefined if the contract does not list it. */
  bind(contract: Contract, name: string, method: Method | undefined): BoundMethod
  /** Undefined if there is no queue that way. */
  readonly enqueue?: AddItem
  close(): Promise<void>
}

const key = Symbol.for('busbar.mesh.1')

/**
 * The mesh of this thread, which a worker offers to every copy of this package in its services. It
 * is found by a global symbol, not by an import: a contract does not depend on what carries its
 * calls.
 */
export interface MeshHook {
  /** `service`: the address, if it differs from the contract's name. */
  transport(service: string | undefined): CallTransport
  /** Undefined in a mesh of a version without events. */
  readonly publish?: Publish
  /** Undefined in a mesh of a version without queues. */
  readonly enqueue?: AddItem
}

type Place = { [key]?: MeshHook }

/** Returns a function that withdraws it. */
export function registerMesh(mesh: MeshHook): () => void {
  const place = globalThis as Place
  place[key] = mesh
  return () => {
    if (place[key] === mesh) delete place[key]
  }
}

export function currentMesh(): MeshHook | undefined {
  return (globalThis as Place)[key]
}
