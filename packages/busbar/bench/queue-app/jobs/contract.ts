import { fn, service, type } from 'busbar/contract'

const Order = type<{ id: number; email: string; items: readonly string[] }>()

export const jobs = service('jobs', {
  run: fn({ input: Order, queue: true }),
  /** Resolves when so many have run since the last time. */
  ran: fn({ input: type<number>() }),
})
