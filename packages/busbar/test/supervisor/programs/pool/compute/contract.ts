import { fn, service, type } from 'busbar/contract'

export const compute = service('compute', {
  /**
   * Keeps its thread busy for so many milliseconds, whatever it is told meanwhile; with fewer than
   * none, ends it.
   */
  spin: fn({ input: type<{ name: string; ms: number }>(), output: type<{ thread: number }>() }),
})
