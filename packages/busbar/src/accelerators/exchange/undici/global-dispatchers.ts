import type { UndiciHandler } from './handler.ts'
import type { DispatchOptions } from './request-parts.ts'

export interface Dispatcher {
  dispatch(options: DispatchOptions, handler: UndiciHandler): boolean
}

/** Where undici keeps its global dispatchers: 6 and 7 read the first, 8 the second, 7 and 8 write both. */
const older = Symbol.for('undici.globalDispatcher.1')
const newer = Symbol.for('undici.globalDispatcher.2')

export type DispatcherSymbol = typeof older | typeof newer

/** Of the undici that this Node is built with. */
export const builtinMajor = Number.parseInt(process.versions['undici'] ?? '7', 10)

type Slots = { [slot in DispatcherSymbol]?: Dispatcher }

const slots = globalThis as Slots
const adopted = new WeakSet<Dispatcher>()
let seen: readonly [Dispatcher | undefined, Dispatcher | undefined, boolean] | undefined

export const globalDispatchers = {
  symbols: [older, newer] as const,

  /** Loads the built-in undici, which fills both slots if nobody has. */
  get(symbol: DispatcherSymbol): Dispatcher | undefined {
    void globalThis.Response
    return slots[symbol]
  },

  set(symbol: DispatcherSymbol, dispatcher: Dispatcher): void {
    slots[symbol] = dispatcher
  },

  /** The one that the built-in `fetch` takes. */
  ofBuiltin(): Dispatcher {
    return slots[builtinMajor >= 8 ? newer : older]!
  },

  /** From now on `dispatcher` is one of ours. */
  adopt(dispatcher: Dispatcher): void {
    adopted.add(dispatcher)
  },

  isOurs(dispatcher: Dispatcher): boolean {
    return adopted.has(dispatcher)
  },

  /** False when a program has set a global dispatcher of its own: it then means every call, those to services too. */
  intact(): boolean {
    const first = slots[older]
    const second = slots[newer]
    if (seen === undefined || seen[0] !== first || seen[1] !== second) seen = [first, second, areOurs(first, second)]
    return seen[2]
  },
}

function areOurs(...dispatchers: (Dispatcher | undefined)[]): boolean {
  return dispatchers.every((dispatcher) => dispatcher === undefined || adopted.has(dispatcher))
}
