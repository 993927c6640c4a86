import { handleExpect, type Handover } from '../../gateway/handover.ts'
import type { CutWrite } from '../../gateway/request-context.ts'
import type { LocalEndpoint } from '../../mesh/routing/endpoint.ts'
import type { Scope } from '../../mesh/scope.ts'
import { emitInContext } from '../../mesh/tracing/traced-request.ts'
import { recountHeaders, requestHeadersFault } from '../../node/request-headers.ts'
import { statedBytes, statedBytesFault, wholeBytes } from '../../node/response.ts'
import { serverOptionsFault } from '../../node/server-options.ts'
import { upgradeChoiceFault, wantsUpgrade } from '../../node/upgrade-choice.ts'
import { isStandard } from './standard-server.ts'

/** Node writes the head first, alone or with the beginning of the body. */
const cut: CutWrite = (context, [chunk, given, ...rest]) => {
  const encoding = typeof given === 'string' ? (given as BufferEncoding) : undefined
  if (context.bytesLeft === undefined && typeof chunk === 'string')
    context.bytesLeft = wholeBytes(context.res, chunk, encoding)
  const left = context.bytesLeft
  if (left === undefined || !isData(chunk)) return undefined
  const length = typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : chunk.byteLength
  context.bytesLeft = left - Math.min(left, length)
  if (!(length > left)) return undefined
  return [
    typeof chunk === 'string' ? Buffer.from(chunk, encoding).subarray(0, left) : chunk.subarray(0, left),
    given,
    ...rest,
  ]
}

function isData(chunk: unknown): chunk is string | Uint8Array {
  return typeof chunk === 'string' || chunk instanceof Uint8Array
}

export function probe(): string | undefined {
  return serverOptionsFault() ?? upgradeChoiceFault() ?? requestHeadersFault() ?? statedBytesFault()
}

export const attachment: Handover = {
  accepts({ server, state }) {
    // A program that has closed its server itself is down. One that is being stopped still answers
    // the gateway's requests in flight.
    return (state !== 'serving' || server.listening) && isStandard(server)
  },

  request(context, endpoint, scope) {
    const { event, req, res } = context
    const { server } = endpoint
    recountHeaders(req)
    const hasListener = event === 'request' || server.listenerCount(event) > 0
    // By itself, what comes of a body would run in the context of the gateway's parser.
    emitInContext(req, (callback) => runInService(endpoint, scope, callback))
    if (hasListener || handleExpect(context))
      runInService(endpoint, scope, () => server.emit(hasListener ? event : 'request', req, res))
  },

  isShort: (res, written) => written < (statedBytes(res) ?? 0),

  cut,

  wantsUpgrade: (req, { server }) => wantsUpgrade(server, req),

  upgrade(req, socket, head, endpoint, scope) {
    recountHeaders(req)
    // By itself, what the client sends would run in the gateway's context.
    emitInContext(socket, (callback) => runInService(endpoint, scope, callback))
    runInService(endpoint, scope, () => endpoint.server.emit('upgrade', req, socket, head))
  },
}

/**
 * An exception in a listener is the service's fault, not the gateway's. It is thrown again in the
 * service's async context only, so that whatever handles it can attribute it.
 */
function runInService(endpoint: LocalEndpoint, scope: Scope, emit: () => boolean): boolean {
  return endpoint.enter(scope, () => {
    try {
      return emit()
    } catch (error) {
      process.nextTick(() => {
        throw error
      })
      return true
    }
  })
}
