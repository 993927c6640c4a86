import { fn, service, stream, type } from 'busbar/contract'

/** Each ends its worker in the way that is asked for. */
export const jobs = service('jobs', {
  who: fn({ output: type<string>(), idempotent: true }),
  once: fn({ input: type<string>(), output: type<string>() }),
  /** Twice is as good as once: who finds the file answers. */
  again: fn({ input: type<{ way: string; file: string }>(), output: type<string>(), idempotent: true }),
  ticks: stream({ input: type<string>(), output: type<number>() }),
})
