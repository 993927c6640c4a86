import type { HttpMesh } from '../../../mesh/mesh.ts'
import { httpsRefused } from '../../../mesh/refusals.ts'
import { Addresses, type Address } from '../clients/addresses.ts'
import { routeCall } from '../clients/call.ts'
import { DispatchedCall } from './dispatched-call.ts'
import { builtinMajor, globalDispatchers, type Dispatcher, type DispatcherSymbol } from './global-dispatchers.ts'
import { diagnostics } from './diagnostics.ts'
import { contextOf, type NewerHandler, type OlderHandler, type UndiciHandler } from './handler.ts'
import { stateRequest, type DispatchOptions } from './request-parts.ts'

/**
 * Stands in front of undici's global dispatchers, the built-in's and those of a program's own copies: a call to one of
 * the app's services is an exchange, every other goes on untouched. So does a call that the exchange does not do
 * exactly; the original dispatcher then reaches the service by a byte stream.
 */
export function installDispatcher(mesh: HttpMesh): Disposable {
  const restore: (() => void)[] = []
  for (const symbol of globalDispatchers.symbols) {
    const original = globalDispatchers.get(symbol)
    if (original === undefined) continue
    const dispatcher = createMeshDispatcher(mesh, original, builtinMajor)
    globalDispatchers.set(symbol, dispatcher)
    restore.push(() => giveBack(symbol, dispatcher, original))
  }
  return { [Symbol.dispose]: () => restore.forEach((undo) => undo()) }
}

/** A dispatcher that is `original`, of this major version, for everything but calls to the app's services. */
export function createMeshDispatcher(mesh: HttpMesh, original: Dispatcher, major: number): Dispatcher {
  const context = contextOf(major)
  const addresses = new Addresses(mesh.router)
  const dispatcher = Object.create(original) as Dispatcher
  forward(dispatcher, original)
  const dispatch = (options: DispatchOptions, handler: UndiciHandler): boolean => {
    const origin = options?.origin
    const address = typeof origin === 'string' ? addresses.ofOrigin(origin) : addressOf(addresses, origin)
    if (address === undefined) return original.dispatch(options, handler)
    if (address.secure) return refuse(handler, httpsRefused(address.service))
    const plan = planDispatch(mesh, address, options)
    if (plan === undefined) return original.dispatch(options, handler)
    new DispatchedCall(handler, context).start(plan.route, plan.stated)
    return true
  }
  Object.defineProperty(dispatcher, 'dispatch', { value: dispatch, writable: true, configurable: true })
  globalDispatchers.adopt(dispatcher)
  return dispatcher
}

/** Undefined: only a byte stream does it exactly. */
function planDispatch(mesh: HttpMesh, address: Address, options: DispatchOptions) {
  const stated = diagnostics.observed() ? undefined : stateRequest(address, options)
  if (stated === undefined) return undefined
  const route = routeCall(mesh, address, stated.request)
  return route.kind === 'stream' ? undefined : { route, stated }
}

function addressOf(addresses: Addresses, origin: unknown): Address | undefined {
  return origin instanceof URL ? addresses.ofOrigin(origin.origin) : undefined
}

function refuse(handler: UndiciHandler, error: Error): boolean {
  queueMicrotask(() => {
    if (typeof (handler as NewerHandler).onResponseError === 'function')
      (handler as NewerHandler).onResponseError?.(null as never, error)
    else (handler as OlderHandler).onError?.(error)
  })
  return true
}

/** These call `this.dispatch`, which has to be the one in front. */
const own = new Set(['constructor', 'dispatch', 'compose', 'request', 'stream', 'pipeline', 'connect', 'upgrade'])

/** Private members make that methods run on their own object only, so that inheriting them is not enough. */
function forward(dispatcher: Dispatcher, original: Dispatcher): void {
  for (let level: object | null = original; level && level !== Object.prototype; level = Object.getPrototypeOf(level))
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(level))) {
      if (own.has(name) || Object.hasOwn(dispatcher, name)) continue
      if (typeof property.value === 'function') {
        const method = property.value as (...args: unknown[]) => unknown
        const value = (...args: unknown[]) => method.apply(original, args)
        Object.defineProperty(dispatcher, name, { value, writable: true, configurable: true })
      } else if (property.get) {
        const get = () => Reflect.get(original, name) as unknown
        Object.defineProperty(dispatcher, name, { get, configurable: true })
      }
    }
}

function giveBack(symbol: DispatcherSymbol, dispatcher: Dispatcher, original: Dispatcher): void {
  // A program may have set its own since.
  if (globalDispatchers.get(symbol) === dispatcher) globalDispatchers.set(symbol, original)
}
