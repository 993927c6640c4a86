import type { Server } from 'node:http'

interface LimitedServer extends Server {
  maxHeaderSize?: number
}

/** Bytes that the gateway adds to a head, besides a second copy of the client's `Host`. */
const addedByGateway = 4096

/** The size of the largest head that the gateway passes on, in bytes. */
const largest = new WeakMap<Server, number>()

/**
 * Makes a service accept every head that the gateway has accepted, of at most `maxHeaderSize`
 * bytes, in whichever worker the gateway is. A limit that the program has set itself stays.
 */
export function raiseHeadLimits(server: LimitedServer, maxHeaderSize: number): void {
  const size = 2 * maxHeaderSize + addedByGateway
  largest.set(server, size)
  server.maxHeaderSize ||= size
  // By default Node silently drops headers after the first 2,000. The size limit bounds them
  // already.
  server.maxHeadersCount ??= 0
}

/** True if a limit of the program's own may refuse a head that the gateway has accepted. */
export function mayRefuseHeads(server: LimitedServer): boolean {
  const { maxHeaderSize = Infinity, maxHeadersCount } = server
  return maxHeaderSize < (largest.get(server) ?? 0) || (maxHeadersCount ?? 0) > 0
}
