import type { HttpMesh } from '../../../mesh/mesh.ts'
import type { Addresses } from '../clients/addresses.ts'
import { routeCall, type StartableRoute } from '../clients/call.ts'
import { globalDispatchers, type Dispatcher } from './global-dispatchers.ts'
import { diagnostics } from './diagnostics.ts'
import { contextOf } from './handler.ts'
import { createLazyBodyClass, type BodyClass } from './lazy-body.ts'
import { RequestedCall, type CopyTraits } from './requested-call.ts'
import { stateRequest, type StatedRequest } from './request-parts.ts'

/** A program's own copy of undici, as its main module is about to be handed out. */
export interface UndiciModule {
  readonly exports: UndiciExports
  /** The class of `body` in what `request` resolves to. */
  readonly Body: BodyClass
  readonly version: string
}

interface UndiciExports {
  request: (url: unknown, options?: unknown, callback?: unknown) => unknown
  readonly getGlobalDispatcher: () => Dispatcher
  readonly util: { parseHeaders(raw: (string | Buffer)[]): Record<string, string | string[]> }
}

type Options = Record<string, unknown>

/** What `request` understands by itself. With any other option the copy's own way is taken. */
const understood = new Set(['method', 'headers', 'body', 'query', 'signal', 'opaque', 'headersTimeout', 'bodyTimeout'])

/**
 * Replaces `request` of one copy. Only a call of a service by the default dispatcher is done here; the result is what
 * the copy's own would give, but that a body which is already there is read without a stream having to run.
 */
export function wrapRequest(mesh: HttpMesh, addresses: Addresses, copy: UndiciModule): void {
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

export interface PlannedCall {
  readonly route: StartableRoute
  readonly stated: StatedRequest
  readonly signal: AbortSignal | undefined
  readonly opaque: unknown
}

function plan(
  mesh: HttpMesh,
  addresses: Addresses,
  exports: UndiciExports,
  url: unknown,
  given: unknown,
): PlannedCall | undefined {
  const called = addresses.ofUrl(typeof url === 'string' ? url : url instanceof URL ? url.href : '')
  if (called === undefined || !isPlainOptions(given)) return undefined
  if (diagnostics.observed() || !globalDispatchers.isOurs(exports.getGlobalDispatcher())) return undefined
  const options = given ?? {}
  const { signal, opaque, body } = options
  if (signal != null && (!(signal instanceof AbortSignal) || signal.aborted)) return undefined
  const method = (options['method'] as string | undefined) || (body ? 'PUT' : 'GET')
  const stated = stateRequest(called.address, { ...options, path: called.path, method })
  if (stated === undefined || stated.stream !== undefined) return undefined
  const route = routeCall(mesh, called.address, stated.request)
  return route.kind === 'stream' ? undefined : { route, stated, signal: signal ?? undefined, opaque: opaque || null }
}

function isPlainOptions(options: unknown): options is Options | null | undefined {
  if (options == null) return true
  if (typeof options !== 'object') return false
  for (const key of Object.keys(options)) if (!understood.has(key)) return false
  return true
}

/** In what the versions differ. */
function traitsOf({ exports, Body, version }: UndiciModule): CopyTraits {
  const major = Number.parseInt(version, 10)
  return {
    Body: createLazyBodyClass(Body, major),
    tellsStatusText: major >= 7,
    context: contextOf(major),
    /** From 7 on a body that nobody listens to may fail without ending the process. */
    forgivesFailure: major >= 7,
    decodeHeaders: (raw) => exports.util.parseHeaders(raw),
  }
}
