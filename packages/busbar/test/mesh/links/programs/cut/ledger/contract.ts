import { fn, service, type } from 'busbar/contract'

export const ledger = service('ledger', {
  read: fn({ output: type<string>(), idempotent: true }),
  write: fn({ output: type<string>() }),
  /** How often each of them was begun. */
  counts: fn({ output: type<Record<string, number>>(), idempotent: true }),
})
