import type { ErrorRecord } from '../../../contract/errors.ts'
import { hopelessUnread, maxUnread } from './limits.ts'
import type { CallHead } from '../link.ts'
import { linkLost, unreadByPeer } from '../link-errors.ts'
import type { PeerUse } from './peer-use.ts'

export interface UnreadLimitsParts {
  /** The peer, for messages. */
  readonly label: string
  readonly isForeign: boolean
  readonly use: PeerUse | undefined
  /** Gets a line for each value that is refused, and when the link ends. */
  readonly report: ((line: string) => void) | undefined
}

/**
 * How much may wait for a peer. Workers of one app read all that they are sent, so between them
 * only calls of other apps are limited.
 */
export class UnreadLimits {
  readonly #parts: UnreadLimitsParts

  constructor(parts: UnreadLimitsParts) {
    this.#parts = parts
  }

  /** Why the call may send no further value. Ask before the value is encoded, which copies it. */
  refusal(call: { readonly name: string; readonly head: CallHead }, unread: number): ErrorRecord | undefined {
    const { label, isForeign, use, report } = this.#parts
    if (!isForeign && call.head.isForeign !== true) return undefined
    const what = unread > maxUnread ? inMiB(unread) : use?.tooMuchUnread
    if (what === undefined) return undefined
    const error = unreadByPeer(call, label, what)
    report?.(`refused to send a value of ${call.name} to ${label}, which has not read ${what} that wait for it`)
    return error
  }

  /** Whether even the errors of refused values pile up. */
  isHopeless(unread: number): boolean {
    const { isForeign, use } = this.#parts
    return isForeign && (unread > hopelessUnread || use?.isHopeless === true)
  }

  lost(unread: number): ErrorRecord {
    const { label, report } = this.#parts
    const what = `does not read what it is sent: ${inMiB(unread)} wait for it`
    report?.(`closed the link to ${label}, which ${what}`)
    return linkLost(label, what)
  }
}

function inMiB(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`
}
