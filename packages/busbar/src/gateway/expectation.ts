import type { RequestContext } from './request-context.ts'

/** Does with an `Expect` that nobody looks at what Node does. False where that is the answer. */
export function meetExpectation({ event, res }: RequestContext): boolean {
  if (event === 'checkExpectation') res.writeHead(417).end()
  else if (event === 'checkContinue') res.writeContinue()
  return event !== 'checkExpectation'
}
