import { fn, service, type } from 'busbar/contract'
import type { Enqueued } from 'busbar/contract'

export const orders = service('orders', {
  place: fn({ input: type<{ to: string; id?: string }>(), output: type<Enqueued>() }),
  /** Enqueues any method of `mail`. */
  enqueue: fn({ input: type<{ method: string; input?: unknown; id?: string }>(), output: type<Enqueued>() }),
})
