import { fn, service, stream, type } from 'busbar/contract'

/** How to end the worker, and a file to which each execution appends a mark. */
export interface Crash {
  readonly way: string
  readonly file: string
}

export const jobs = service('jobs', {
  who: fn({ output: type<string>(), idempotent: true }),
  once: fn({ input: type<Crash>(), output: type<string>() }),
  /** Idempotent: returns if it finds a mark. */
  again: fn({ input: type<Crash>(), output: type<string>(), idempotent: true }),
  ticks: stream({ input: type<Crash>(), output: type<number>() }),
})
