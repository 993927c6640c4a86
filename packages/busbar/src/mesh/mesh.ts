import type { Router } from './router.ts'

/** What every HTTP client of the mesh shares: one per worker. */
export interface HttpMesh {
  readonly router: Router
  /** Of calls that cause calls: one that would make more than this is answered 508. At least 1. */
  readonly maxHops: number
}
