import { fn, service, type } from 'busbar/contract'

export const stock = service('stock', {
  /** How much is left of a product, and which host says so. */
  count: fn({ input: type<{ id: number }>(), output: type<{ left: number; host: string }>(), idempotent: true }),
})
