import { fn, service, type } from 'busbar/contract'

export interface Work {
  readonly how: 'call' | 'enqueue'
  readonly count: number
  /** At a time. */
  readonly lanes: number
}

export const driver = service('driver', {
  /** Milliseconds until all are answered, and until all have run. */
  run: fn({ input: type<Work>(), output: type<{ answered: number; ran: number }>() }),
})
