/** What each of the four typed services offers: the plain functions of `one-thread.ts`, called by contract. */
import { fn, service, type } from 'busbar/contract'

export const leaf = service('leaf', {
  live: fn({ output: type<{ content: string }>() }),
})
