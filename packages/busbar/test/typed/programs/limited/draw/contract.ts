import { fn, service, type } from 'busbar/contract'

export const draw = service('draw', {
  /** Takes so many milliseconds; answers how many were drawn at once, and where. */
  slowly: fn({ input: type<{ ms: number }>(), output: type<{ atOnce: number; worker: string }>() }),
  /** How many were drawn, of a name that only this call knows. */
  count: fn({ input: type<{ user: string }>(), output: type<{ worker: string }>(), key: ({ user }) => user }),
})
