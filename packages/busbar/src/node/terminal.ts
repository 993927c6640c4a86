/**
 * Node writes to a terminal synchronously (documented), so a terminal paused with Ctrl-S blocks the
 * thread. The handle under the stream (lib/tty.js) can write without blocking, as pipes do.
 */
interface TerminalHandle {
  setBlocking?(on: boolean): number
}

/** Makes writes to the terminal non-blocking. Returns why if that is not possible. */
export function neverBlock(terminal: NodeJS.WriteStream): string | undefined {
  const { _handle: handle } = terminal as { _handle?: TerminalHandle | null }
  if (typeof handle?.setBlocking !== 'function') return 'this Node cannot write to terminals without blocking'
  const status = handle.setBlocking(false)
  return status === 0 || status === undefined ? undefined : `setBlocking(false) of a terminal returned ${status}`
}
