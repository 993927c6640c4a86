import type { MeshContext } from '../../../mesh/mesh-context.ts'
import { ServiceAddresses } from '../clients/addresses.ts'
import { routeCall } from '../clients/client-call.ts'
import { FetchCall } from './fetch-call.ts'
import { toFetchRequest, type FetchRequest } from './fetch-request.ts'
import { diagnostics, globalDispatchers } from '../undici/globals.ts'
import { replay } from './replay.ts'

type Fetch = typeof globalThis.fetch

/**
 * Replaces `globalThis.fetch`. Calls to the app's services go through the mesh; all others go to
 * the built-in, unchanged. So do calls with unusual options: the dispatcher then finds the service.
 * A `fetch` that a preloaded module has replaced or wrapped stays: its module expects all calls.
 * It reaches services by undici's dispatcher.
 */
export function installFetch(mesh: MeshContext): Disposable {
  const installed = new DisposableStack()
  if (!isBuiltin(globalThis.fetch)) return installed
  const property = Object.getOwnPropertyDescriptor(globalThis, 'fetch')!
  const builtin = globalThis.fetch
  const meshFetch = createFetch(mesh, builtin)
  Object.defineProperty(globalThis, 'fetch', { ...property, value: meshFetch })
  meshFetches.add(meshFetch)
  installed.defer(() => {
    // A program may have replaced it meanwhile.
    if (globalThis.fetch === meshFetch) Object.defineProperty(globalThis, 'fetch', property)
  })
  return installed
}

const meshFetches = new WeakSet<Fetch>()

/** Only the source of Node's own function names a module of Node's. */
function isBuiltin(fetch: Fetch): boolean {
  return meshFetches.has(fetch) || Function.prototype.toString.call(fetch).includes('internal/deps/undici')
}

function createFetch(mesh: MeshContext, builtin: Fetch): Fetch {
  const addresses = new ServiceAddresses(mesh.router)
  const fetch = function (this: unknown, ...args: Parameters<Fetch>): Promise<Response> {
    const call = plan(mesh, addresses, args)
    if (call === undefined) return Reflect.apply(builtin, this, args)
    return new Promise((resolve, reject) => {
      const { fetched, route } = call
      try {
        new FetchCall(fetched, (head, exchange) => replay(builtin, args, head, exchange), resolve, reject).start(route)
      } catch {
        // The built-in throws its own error for a request that cannot be sent.
        resolve(builtin(...args))
      }
    })
  }
  // As the built-in has them, for programs that look.
  return Object.defineProperties(fetch, { name: { value: 'fetch' }, length: { value: builtin.length } })
}

/** Undefined if the built-in must make the call. */
function plan(mesh: MeshContext, addresses: ServiceAddresses, args: Parameters<Fetch>) {
  const fetched = readRequest(addresses, args)
  if (fetched === undefined || !globalDispatchers.areUnchanged() || diagnostics.areObserved(mesh)) return undefined
  const route = routeCall(mesh, fetched.url.address, fetched.request)
  return route.kind === 'stream' ? undefined : { fetched, route }
}

function readRequest(addresses: ServiceAddresses, args: Parameters<Fetch>): FetchRequest | undefined {
  try {
    return (args as unknown[]).length === 0 ? undefined : toFetchRequest(addresses, args[0], args[1])
  } catch {
    // A getter has thrown. It does so for the built-in too, which then rejects.
    return undefined
  }
}
