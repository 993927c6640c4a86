import { isOn } from '../../support/mesh/accelerators.ts'

/**
 * Known differences of Unix sockets (`docs/guides/scale/accelerators.md`, "Differences without
 * `stream`").
 */
const known = [
  // Node emits no 'drop' for a Unix socket, and its client gets another error code.
  /^a limit on the number of connections$/,
]

export function isKnownOverUnixSockets(name: string): boolean {
  return !isOn('stream') && known.some((one) => one.test(name))
}
