/**
 * Node writes to a terminal synchronously (documented), so one that was paused with Ctrl-S stops the thread that writes. The handle
 * under the stream (`lib/tty.js`) can write without waiting, as pipes do.
 */
interface TerminalHandle {
  setBlocking?(on: boolean): number
}

/** Undefined, or why writing to this terminal may wait. */
export function neverBlock(terminal: NodeJS.WriteStream): string | undefined {
  const { _handle: handle } = terminal as { _handle?: TerminalHandle | null }
  if (typeof handle?.setBlocking !== 'function') return 'this Node has no terminals that are written without waiting'
  const status = handle.setBlocking(false)
  return status === 0 || status === undefined ? undefined : `setBlocking(false) of a terminal gives ${status}`
}
