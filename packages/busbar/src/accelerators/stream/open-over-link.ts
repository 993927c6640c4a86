import type { ErrorRecord } from '../../contract/errors.ts'
import { type RemoteEndpoint, transportTo } from '../../mesh/routing/endpoint.ts'
import { type CallHead, type ChannelHandler, closedBy } from '../../mesh/links/link.ts'
import type { RequestCounter } from '../../mesh/sockets/instance/request-counter.ts'
import { noWorker } from '../../shared/metrics/worker-pair.ts'
import type { Transport } from '../../shared/metrics/edge-table.ts'
import type { ConnectionEnd } from './connection-end.ts'
import { LinkEnd } from './link-end.ts'

/**
 * The first value of a connection's call: the caller's port, for logs, the requested port, and for
 * metrics the transport and the caller's worker, if it is one of this app.
 */
export type ConnectionValue = readonly [callerPort: number, port: number, transport?: Transport, worker?: number]

export interface LinkEndOptions {
  readonly hops: number
  readonly caller: string | undefined
  /** This one. */
  readonly worker: number
  /** Set if the other host does not count the requests. */
  readonly counter: RequestCounter | undefined
  readonly onConnected: () => void
  /** Called instead of `onConnected` if the other worker refuses the connection. */
  readonly onRefused: () => void
  /**
   * Called instead of `onConnected` if the link is lost after it took bytes: the service may have
   * read them.
   */
  readonly onLost: () => void
}

/**
 * Connects a client's end to an instance in another worker. Data written before the connection is
 * established is sent at once.
 */
export function openOverLink(endpoint: RemoteEndpoint, end: ConnectionEnd, options: LinkEndOptions): LinkEnd {
  const { service, link, host } = endpoint
  const { hops, caller, worker, counter } = options
  const head: CallHead = {
    service,
    kind: 'bytes',
    method: '',
    hops,
    caller,
    timeLeft: undefined,
    trace: undefined,
    metadata: undefined,
  }
  const value: ConnectionValue = [
    end.local.port,
    end.remote.port,
    transportTo(endpoint),
    host === undefined ? worker : noWorker,
  ]
  let linkEnd: LinkEnd | undefined
  let isConnected = false
  const handler: ChannelHandler = {
    onReply() {
      isConnected = true
      options.onConnected()
    },
    onData: (piece) => linkEnd!.onData(piece),
    onEnd: (how) => linkEnd!.onEnd(how),
    onDrain: () => linkEnd!.onDrain(),
    onError(error: ErrorRecord, notStarted: boolean) {
      if (isConnected) return linkEnd!.onError(error)
      if (notStarted || end.bytesWritten === 0) {
        counter?.refused()
        options.onRefused()
      } else {
        linkEnd!.onError(error)
        options.onLost()
      }
    },
  }
  const channel = link.open(head, value, false, handler)
  linkEnd = new LinkEnd(end, channel, () => channel.cancel(closedBy.caller), counter)
  end.joinTo(linkEnd)
  return linkEnd
}
