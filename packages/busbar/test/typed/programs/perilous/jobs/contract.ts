import { fn, service, stream, type } from 'busbar/contract'

/** A way to end a worker, and the file in which each one that begins leaves a mark. */
export interface Peril {
  readonly way: string
  readonly file: string
}

export const jobs = service('jobs', {
  who: fn({ output: type<string>(), idempotent: true }),
  once: fn({ input: type<Peril>(), output: type<string>() }),
  /** Twice is as good as once: who finds a mark answers. */
  again: fn({ input: type<Peril>(), output: type<string>(), idempotent: true }),
  ticks: stream({ input: type<Peril>(), output: type<number>() }),
})
