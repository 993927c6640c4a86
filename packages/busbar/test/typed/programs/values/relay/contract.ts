import { fn, service, type } from 'busbar/contract'

export interface Question {
  readonly service: string
  readonly method: string
  readonly input: unknown
}

/** Calls another service from its own worker, and returns the outcome. */
export const relay = service('relay', { ask: fn({ input: type<Question>(), output: type<unknown>() }) })
