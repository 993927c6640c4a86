import type { MeshContext } from '../../../mesh/mesh-context.ts'
import { httpsRefused } from '../../../mesh/routing/unreachable.ts'
import { ServiceAddresses, type Address } from '../clients/addresses.ts'
import { routeCall } from '../clients/client-call.ts'
import { DispatchedCall } from './dispatched-call.ts'
import { builtinMajor, diagnostics, globalDispatchers, type Dispatcher, type DispatcherSymbol } from './globals.ts'
import { contextOf, type ControllerHandler, type LegacyHandler, type UndiciHandler } from './handler-dialects.ts'
import { toDispatchRequest, type DispatchOptions } from './dispatch-request.ts'

/**
 * Replaces undici's global dispatchers, of the built-in and of programs' own copies. A call to one
 * of the app's services becomes an exchange; all others go to the original dispatcher. So do calls
 * that an exchange cannot make exactly: they reach the service by a byte stream.
 */
export function installDispatcher(mesh: MeshContext): Disposable {
  const restore: (() => void)[] = []
  for (const symbol of globalDispatchers.symbols) {
    const original = globalDispatchers.get(symbol)
    if (original === undefined) continue
    const dispatcher = createMeshDispatcher(mesh, original, builtinMajor)
    globalDispatchers.set(symbol, dispatcher)
    restore.push(() => restoreDispatcher(symbol, dispatcher, original))
  }
  return { [Symbol.dispose]: () => restore.forEach((undo) => undo()) }
}

/** A dispatcher that behaves as `original`, of this major version, except for calls to services. */
export function createMeshDispatcher(mesh: MeshContext, original: Dispatcher, major: number): Dispatcher {
  const context = contextOf(major)
  const addresses = new ServiceAddresses(mesh.router)
  const dispatcher = Object.create(original) as Dispatcher
  delegateMembers(dispatcher, original)
  const dispatch = (options: DispatchOptions, handler: UndiciHandler): boolean => {
    const origin = options?.origin
    const address = typeof origin === 'string' ? addresses.ofOrigin(origin) : addressOf(addresses, origin)
    if (address === undefined) return original.dispatch(options, handler)
    if (address.secure) return refuse(handler, httpsRefused(address.service))
    const plan = planDispatch(mesh, address, options)
    if (plan === undefined) return original.dispatch(options, handler)
    new DispatchedCall(handler, context, plan.stated).start(plan.route, plan.stated)
    return true
  }
  Object.defineProperty(dispatcher, 'dispatch', { value: dispatch, writable: true, configurable: true })
  globalDispatchers.register(dispatcher)
  return dispatcher
}

/** Undefined if only a byte stream carries the call exactly. */
function planDispatch(mesh: MeshContext, address: Address, options: DispatchOptions) {
  const stated = diagnostics.areObserved(mesh) ? undefined : toDispatchRequest(address, options)
  if (stated === undefined) return undefined
  const route = routeCall(mesh, address, stated.request)
  return route.kind === 'stream' ? undefined : { route, stated }
}

function addressOf(addresses: ServiceAddresses, origin: unknown): Address | undefined {
  return origin instanceof URL ? addresses.ofOrigin(origin.origin) : undefined
}

function refuse(handler: UndiciHandler, error: Error): boolean {
  queueMicrotask(() => {
    if (typeof (handler as ControllerHandler).onResponseError === 'function')
      (handler as ControllerHandler).onResponseError?.(null as never, error)
    else (handler as LegacyHandler).onError?.(error)
  })
  return true
}

/** Members that call `this.dispatch`, which must be the mesh's. */
const inherited = new Set(['constructor', 'dispatch', 'compose', 'request', 'stream', 'pipeline', 'connect', 'upgrade'])

/**
 * Methods that use private members run on the original object only, so inheriting is not enough.
 */
function delegateMembers(dispatcher: Dispatcher, original: Dispatcher): void {
  for (let level: object | null = original; level && level !== Object.prototype; level = Object.getPrototypeOf(level))
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(level))) {
      if (inherited.has(name) || Object.hasOwn(dispatcher, name)) continue
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

function restoreDispatcher(symbol: DispatcherSymbol, dispatcher: Dispatcher, original: Dispatcher): void {
  // A program may have replaced it meanwhile.
  if (globalDispatchers.get(symbol) === dispatcher) globalDispatchers.set(symbol, original)
}
