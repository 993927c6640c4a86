import type { ErrorRecord } from '../../../contract/errors.ts'
import { maxCalls } from './limits.ts'
import type { Channel, ChannelHandler, Link } from '../link.ts'
import { linkLost, serviceStopping, tooManyCalls, tooMuchQueued } from '../link-errors.ts'
import type { LiveChannel } from '../live-channel.ts'
import { ProtocolError } from '../packet-transport.ts'
import type { PeerUse } from './peer-use.ts'
import type { SendQueue } from '../send-queue.ts'

export interface CallLimitsParts {
  /** The peer, for messages. */
  readonly label: string
  readonly isForeign: boolean
  readonly use: PeerUse | undefined
  /** Of each side. Default: `maxCalls`. */
  readonly most: number | undefined
  readonly sendQueue: SendQueue
}

/** How many calls each side of a link may have in flight. */
export class CallLimits {
  readonly #parts: CallLimitsParts
  readonly #most: number
  /** Calls of the peer that were refused since it had as many as it may. */
  #beyond = 0

  constructor(parts: CallLimitsParts) {
    this.#parts = parts
    this.#most = parts.most ?? maxCalls
  }

  /** Why this side may make no further call. */
  refusal({ state, inFlight }: Pick<Link, 'state' | 'inFlight'>, service: string): ErrorRecord | undefined {
    const { label, sendQueue } = this.#parts
    if (state === 'closed') return linkLost(label, 'is no longer linked', service)
    if (state === 'draining') return serviceStopping(service)
    if (inFlight >= this.#most) return tooManyCalls(label, inFlight, service)
    return sendQueue.isFull ? tooMuchQueued(label, sendQueue.unread, service) : undefined
  }

  /** Why the call that has arrived is refused. */
  refusalOfPeer(answering: number): ErrorRecord | undefined {
    const { label, isForeign, use, sendQueue } = this.#parts
    const hasTooMany = answering >= this.#most
    const refusal = hasTooMany ? tooManyCalls(label, answering) : use?.refusal
    if (refusal === undefined) this.#beyond = 0
    // A caller knows its limits. One that does not keep to them, or does not read the refusals,
    // costs more to refuse than to cut off.
    else if (isForeign && (hasTooMany || sendQueue.isFull) && ++this.#beyond > this.#most)
      throw new ProtocolError('makes calls beyond its limit')
    return refusal
  }
}

/** Calls `onError` after `open` has returned. */
export function refused(channel: LiveChannel, error: ErrorRecord, handler: ChannelHandler): Channel {
  channel.onCancel(error)
  process.nextTick(() => handler.onError?.(error, true))
  return channel
}
