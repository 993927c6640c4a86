import type { Answerer, Link } from './link.ts'
import { createLink } from './live-link.ts'
import { memoryPipes } from './memory.ts'

/**
 * A link of a worker to itself: for an instance in this thread that is to be called like any other, since whoever calls it
 * may have to wait. Closing it closes both ends.
 */
export function linkToSelf(worker: number, answer: Answerer): Link {
  const [near, far] = memoryPipes()
  createLink(far, { peer: worker, answer })
  return createLink(near, { peer: worker, answer: () => ({}) })
}
