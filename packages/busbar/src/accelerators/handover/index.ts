/**
 * Gives the gateway's own request and response to a program of the same worker, whose server would otherwise make its own from a
 * connection. Relies on what a server shows of itself: of which classes it makes requests and responses, and which upgrades it
 * takes. Gain: see docs/guides/accelerators.md.
 */
import type { Server } from 'node:http'
import { meetExpectation } from '../../gateway/expectation.ts'
import type { Handover } from '../../gateway/handover.ts'
import type { LocalEndpoint } from '../../mesh/endpoint.ts'
import type { Scope } from '../../mesh/scope.ts'
import { makesPlainObjects, serverClassesFault } from '../../node/server-classes.ts'
import { upgradeChoiceFault, wantsUpgrade } from '../../node/upgrade-choice.ts'

export function probe(): string | undefined {
  return serverClassesFault() ?? upgradeChoiceFault()
}

export const attachment: Handover = {
  /** A program may have its server make requests and responses of classes of its own: ours would lack their methods. */
  takes({ server, state }) {
    // A program that has closed its server itself is down. One that is stopped still answers what the gateway has.
    if (state === 'serving' && !server.listening) return false
    let takes = known.get(server)
    if (takes === undefined) known.set(server, (takes = makesPlainObjects(server)))
    return takes
  },

  request(context, endpoint, scope) {
    const { event, req, res } = context
    const { server } = endpoint
    const heard = event === 'request' || server.listenerCount(event) > 0
    if (heard || meetExpectation(context))
      inService(endpoint, scope, () => server.emit(heard ? event : 'request', req, res))
  },

  wantsUpgrade: (req, { server }) => wantsUpgrade(server, req),

  upgrade(req, socket, head, endpoint, scope) {
    inService(endpoint, scope, () => endpoint.server.emit('upgrade', req, socket, head))
  },
}

const known = new WeakMap<Server, boolean>()

/**
 * A listener that throws must be the service's fault, and not ours: its error is thrown anew where
 * only the service's own context is around it, so that whoever hears of it knows whose it is.
 */
function inService(endpoint: LocalEndpoint, scope: Scope, callback: () => void): void {
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
