import type { HttpMesh } from '../mesh.ts'

/** Stands in front of undici's global dispatchers, the built-in's and those of a program's own copies. */
export function installDispatcher(mesh: HttpMesh): Disposable {
  void mesh
  return { [Symbol.dispose]: () => {} }
}
