import type { Context } from 'busbar/contract'
import { echo, type Way } from './contract.ts'

type Handler = (input: unknown, context: Context) => unknown

const pass: Handler = (input) => input
const handlers: Record<Way, Handler> = {
  echo: pass,
  result: pass,
  item: async function* (input) {
    yield input
  },
  failure: (input, { fail }) => fail('IS_GONE', input as never),
  query: pass,
  removal: pass,
  path: pass,
}

const methods = Object.keys(echo.methods).map((name) => [name, handlers[name.split('_')[2] as Way]])
export default echo.implement(Object.fromEntries(methods) as never)
