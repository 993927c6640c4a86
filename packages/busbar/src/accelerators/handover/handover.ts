import type { Server } from 'node:http'
import { handleExpect, type Handover } from '../../gateway/handover.ts'
import type { LocalEndpoint } from '../../mesh/routing/endpoint.ts'
import type { Scope } from '../../mesh/scope.ts'
import { usesDefaultClasses, serverClassesFault } from '../../node/server-classes.ts'
import { upgradeChoiceFault, wantsUpgrade } from '../../node/upgrade-choice.ts'

export function probe(): string | undefined {
  return serverClassesFault() ?? upgradeChoiceFault()
}

export const attachment: Handover = {
  /**
   * A server may use its own request and response classes. The gateway's objects lack their
   * methods.
   */
  accepts({ server, state }) {
    // A program that has closed its server itself is down. One that is being stopped still answers
    // the gateway's requests in flight.
    if (state === 'serving' && !server.listening) return false
    let isDefault = checked.get(server)
    if (isDefault === undefined) checked.set(server, (isDefault = usesDefaultClasses(server)))
    return isDefault
  },

  request(context, endpoint, scope) {
    const { event, req, res } = context
    const { server } = endpoint
    const hasListener = event === 'request' || server.listenerCount(event) > 0
    if (hasListener || handleExpect(context))
      runInService(endpoint, scope, () => server.emit(hasListener ? event : 'request', req, res))
  },

  wantsUpgrade: (req, { server }) => wantsUpgrade(server, req),

  upgrade(req, socket, head, endpoint, scope) {
    runInService(endpoint, scope, () => endpoint.server.emit('upgrade', req, socket, head))
  },
}

/** Servers whose classes have been checked. */
const checked = new WeakMap<Server, boolean>()

/**
 * An exception in a listener is the service's fault, not the gateway's. It is thrown again in the
 * service's async context only, so that whatever handles it can attribute it.
 */
function runInService(endpoint: LocalEndpoint, scope: Scope, callback: () => void): void {
  endpoint.enter(scope, () => {
    try {
      callback()
    } catch (error) {
      process.nextTick(() => {
        throw error
      })
    }
  })
}
