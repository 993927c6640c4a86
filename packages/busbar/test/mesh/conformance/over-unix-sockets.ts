import { isOn } from '../../support/mesh/accelerators.ts'

/**
 * Known differences of Unix sockets (`docs/guides/scale/accelerators.md`, "Differences without
 * `stream`").
 */
const known = [
  // Node emits no 'drop' for a Unix socket, and its client gets another error code.
  /^a limit on the number of connections$/,
  // The client sees an end, which completes a body without a length.
  /^socket\.resetAndDestroy in a body (?:that ends with the connection|without a length)/,
]

export function isKnownOverUnixSockets(name: string): boolean {
  return !isOn('stream') && known.some((one) => one.test(name))
}
