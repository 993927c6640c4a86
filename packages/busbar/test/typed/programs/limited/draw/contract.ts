import { fn, service, type } from 'busbar/contract'

export const draw = service('draw', {
  /** Takes `ms` milliseconds. Returns how many calls its worker ran at once, and the worker. */
  slowly: fn({ input: type<{ ms: number }>(), output: type<{ atOnce: number; worker: string }>() }),
  /** Returns the worker that has this key. */
  count: fn({ input: type<{ user: string }>(), output: type<{ worker: string }>(), key: ({ user }) => user }),
})
