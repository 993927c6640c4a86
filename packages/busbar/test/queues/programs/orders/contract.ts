import { fn, service, type } from 'busbar/contract'
import type { Enqueued } from 'busbar/contract'

export const orders = service('orders', {
  place: fn({ input: type<{ to: string; id?: string }>(), output: type<Enqueued>() }),
  /** Logs that it has begun, and enqueues when the file exists. */
  placeLater: fn({ input: type<{ to: string; file: string }>(), output: type<Enqueued>() }),
  /** Enqueues any method of `mail`. */
  enqueue: fn({ input: type<{ method: string; input?: unknown; id?: string }>(), output: type<Enqueued>() }),
})
