/**
 * The contract of the four typed services, which do the same as the plain functions of
 * `one-thread.ts`.
 */
import { fn, service, type } from 'busbar/contract'

export const leaf = service('leaf', {
  live: fn({ output: type<{ content: string }>() }),
})
