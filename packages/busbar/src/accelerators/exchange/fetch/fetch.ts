import type { HttpMesh } from '../../../mesh/mesh.ts'
import { Addresses } from '../clients/addresses.ts'
import { routeCall } from '../clients/call.ts'
import { FetchCall } from './call.ts'
import { stateFetch, type FetchedRequest } from './request.ts'
import { globalDispatchers } from '../undici/global-dispatchers.ts'
import { replay } from './replay.ts'
import { diagnostics } from '../undici/diagnostics.ts'

type Fetch = typeof globalThis.fetch

/**
 * Replaces `globalThis.fetch`: calls to the app's services go by the mesh, all others to the built-in untouched. So do
 * calls that want more than the ordinary; their dispatcher then finds the service.
 */
export function installFetch(mesh: HttpMesh): Disposable {
  const property = Object.getOwnPropertyDescriptor(globalThis, 'fetch')!
  const builtin = globalThis.fetch
  const meshFetch = createFetch(mesh, builtin)
  Object.defineProperty(globalThis, 'fetch', { ...property, value: meshFetch })
  return {
    [Symbol.dispose]() {
      // A program may have put its own in front since.
      if (globalThis.fetch === meshFetch) Object.defineProperty(globalThis, 'fetch', property)
    },
  }
}

function createFetch(mesh: HttpMesh, builtin: Fetch): Fetch {
  const addresses = new Addresses(mesh.router)
  // One formal parameter, like the built-in's.
  const fetch = function (this: unknown, ...args: Parameters<Fetch>): Promise<Response> {
    const call = plan(mesh, addresses, args)
    if (call === undefined) return Reflect.apply(builtin, this, args)
    return new Promise((resolve, reject) => {
      const { fetched, route } = call
      try {
        new FetchCall(fetched, (head, exchange) => replay(builtin, args, head, exchange), resolve, reject).start(route)
      } catch {
        // What cannot be sent, the built-in refuses in its own words.
        resolve(builtin(...args))
      }
    })
  }
  return Object.defineProperties(fetch, { name: { value: 'fetch' }, length: { value: builtin.length } })
}

/** Undefined: the built-in's. */
function plan(mesh: HttpMesh, addresses: Addresses, args: Parameters<Fetch>) {
  const fetched = state(addresses, args)
  if (fetched === undefined || !globalDispatchers.intact() || diagnostics.observed()) return undefined
  const route = routeCall(mesh, fetched.url.address, fetched.request)
  return route.kind === 'stream' ? undefined : { fetched, route }
}

function state(addresses: Addresses, args: Parameters<Fetch>): FetchedRequest | undefined {
  try {
    return (args as unknown[]).length === 0 ? undefined : stateFetch(addresses, args[0], args[1])
  } catch {
    // A getter that throws does so for the built-in too, which rejects with it.
    return undefined
  }
}
