import type { ErrorRecord } from '../../contract/errors.ts'
import type { RemoteEndpoint } from '../../mesh/endpoint.ts'
import type { CallHead, ChannelHandler } from '../../mesh/links/link.ts'
import type { End } from './end.ts'
import { FarEnd, left } from './far-end.ts'

/** What a connection's call opens with: the port that the caller's end has in logs, and the one that it asked for. */
export type ConnectionValue = readonly [callerPort: number, port: number]

export interface FarOptions {
  readonly hops: number
  readonly caller: string | undefined
  readonly onConnected: () => void
  /** Instead: the other worker takes no such connection. */
  readonly onRefused: () => void
}

/** Leads a client's end to an instance in another worker. What is written before it is connected goes at once, as well. */
export function openFarEnd(endpoint: RemoteEndpoint, end: End, options: FarOptions): void {
  const { service, link } = endpoint
  const { hops, caller } = options
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
  const value: ConnectionValue = [end.local.port, end.remote.port]
  let far: FarEnd | undefined
  let isConnected = false
  const handler: ChannelHandler = {
    onReply() {
      isConnected = true
      options.onConnected()
    },
    onData: (piece) => far!.onData(piece),
    onEnd: (how) => far!.onEnd(how),
    onDrain: () => far!.onDrain(),
    onError(error: ErrorRecord) {
      if (isConnected) far!.onError(error)
      else options.onRefused()
    },
  }
  const channel = link.open(head, value, false, handler)
  far = new FarEnd(end, channel, () => channel.cancel(left.caller))
  end.joinTo(far)
}
