import type { MeshContext } from '../../../mesh/mesh-context.ts'
import type { ServiceAddresses } from '../clients/addresses.ts'
import { routeCall } from '../clients/client-call.ts'
import { diagnostics, globalDispatchers, type Dispatcher } from './globals.ts'
import { contextOf } from './handler-dialects.ts'
import { createLazyBodyClass, type BodyClass } from './lazy-body.ts'
import { type PlannedCall, RequestedCall, type UndiciTraits } from './requested-call.ts'
import { toDispatchRequest } from './dispatch-request.ts'

/** A program's own copy of undici, just after its main module was loaded. */
export interface UndiciModule {
  readonly exports: UndiciExports
  /** The class of a response's `body`. */
  readonly Body: BodyClass
  readonly version: string
}

interface UndiciExports {
  request: (url: unknown, options?: unknown, callback?: unknown) => unknown
  readonly getGlobalDispatcher: () => Dispatcher
  readonly util: { parseHeaders(raw: (string | Buffer)[]): Record<string, string | string[]> }
}

type Options = Record<string, unknown>

/** Supported options. With any other, the copy's own `request` is called. */
const supported = new Set(['method', 'headers', 'body', 'query', 'signal', 'opaque', 'headersTimeout', 'bodyTimeout'])

/**
 * Replaces `request` of one copy. Only calls to a service by the default dispatcher are made here.
 * The result equals that of the copy, except that a body which has arrived is read without running
 * a stream.
 */
export function wrapRequest(mesh: MeshContext, addresses: ServiceAddresses, copy: UndiciModule): void {
  const { exports } = copy
  const original = exports.request
  const traits = traitsOf(copy)
  const request = (url: unknown, options?: unknown, callback?: unknown): unknown => {
    const call = callback === undefined ? plan(mesh, addresses, exports, url, options) : undefined
    if (call === undefined) return original(url, options, callback)
    return new Promise((resolve, reject) => {
      new RequestedCall(traits, call, resolve, reject).start()
    })
  }
  exports.request = Object.defineProperty(request, 'length', { value: original.length })
}

function plan(
  mesh: MeshContext,
  addresses: ServiceAddresses,
  exports: UndiciExports,
  url: unknown,
  given: unknown,
): PlannedCall | undefined {
  const called = addresses.ofUrl(typeof url === 'string' ? url : url instanceof URL ? url.href : '')
  if (called === undefined || !areSupported(given)) return undefined
  if (diagnostics.areObserved(mesh) || !globalDispatchers.isMeshDispatcher(exports.getGlobalDispatcher()))
    return undefined
  const options = given ?? {}
  const { signal, opaque, body } = options
  if (signal != null && (!(signal instanceof AbortSignal) || signal.aborted)) return undefined
  const method = (options['method'] as string | undefined) || (body ? 'PUT' : 'GET')
  const stated = toDispatchRequest(called.address, { ...options, path: called.path, method })
  if (stated === undefined || stated.stream !== undefined) return undefined
  const route = routeCall(mesh, called.address, stated.request)
  return route.kind === 'stream' ? undefined : { route, stated, signal: signal ?? undefined, opaque: opaque || null }
}

function areSupported(options: unknown): options is Options | null | undefined {
  if (options == null) return true
  if (typeof options !== 'object') return false
  for (const key of Object.keys(options))
    // An undefined dispatcher is the default one.
    if (!supported.has(key) && !(key === 'dispatcher' && Reflect.get(options, key) === undefined)) return false
  return true
}

/** The differences between the versions of undici. */
function traitsOf({ exports, Body, version }: UndiciModule): UndiciTraits {
  const major = Number.parseInt(version, 10)
  return {
    Body: createLazyBodyClass(Body, major),
    hasStatusText: major >= 7,
    context: contextOf(major),
    ignoresUnhandledFailure: major >= 7,
    decodeHeaders: (raw) => exports.util.parseHeaders(raw),
  }
}
