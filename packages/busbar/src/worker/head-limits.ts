import type { Server } from 'node:http'
import type { Limits } from '../config/app.ts'

/** What the gateway adds, besides a second copy of the `Host` that the client chose. */
const added = 4096

/**
 * A service behind the gateway takes every head that the gateway has taken, in another worker as in
 * the gateway's own: `limits` of the app say how large one may be. What the program has chosen by
 * itself stays.
 */
export function takeHeadsOfGateway(server: Server, { maxHeaderSize }: Limits): void {
  const own = server as Server & { maxHeaderSize?: number }
  own.maxHeaderSize ||= 2 * maxHeaderSize + added
  // By itself Node leaves out what comes behind the first 2,000, without a word; the gateway's size
  // bounds them already.
  own.maxHeadersCount ??= 0
}
