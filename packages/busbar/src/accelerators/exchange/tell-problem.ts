import type { Problem } from '../../mesh/problem.ts'
import type { ExchangeHandler } from '../../mesh/http/exchange.ts'

/** Answers a request that goes nowhere. */
export function tellProblem({ status, statusText, headers, body }: Problem, handler: ExchangeHandler): void {
  handler.onHead({ status, statusText, headers, rawHeaders: Object.entries(headers).flat() })
  handler.onData(body)
  handler.onEnd({})
}
