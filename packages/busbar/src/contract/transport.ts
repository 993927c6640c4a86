import type { CallOptions } from './calls.ts'
import type { Contract } from './contract.ts'
import type { Method } from './method.ts'

/** A method of another service, ready to be called; of a stream, what its caller iterates. */
export type BoundMethod = (
  input: unknown,
  options: CallOptions | undefined,
) => Promise<unknown> | AsyncIterable<unknown>

/** How calls get to a service: everything a client needs to know about where it is. */
export interface Transport {
  /** Once per method and client. `method` is undefined where no contract lists it. */
  bind(contract: Contract, name: string, method: Method | undefined): BoundMethod
  close(): Promise<void>
}

const key = Symbol.for('busbar.mesh.1')

/**
 * The mesh of this thread, as a worker offers it to every copy of this package that its services have. It is found by a
 * name that all copies know, and not by an import: a contract knows nothing of what carries its calls.
 */
export interface MeshHook {
  /** `service`: the address, where it is not the contract's name. */
  transport(service: string | undefined): Transport
}

type Place = { [key]?: MeshHook }

/** Returns how to take it away again. */
export function offerMesh(mesh: MeshHook): () => void {
  const place = globalThis as Place
  place[key] = mesh
  return () => {
    if (place[key] === mesh) delete place[key]
  }
}

export function currentMesh(): MeshHook | undefined {
  return (globalThis as Place)[key]
}
