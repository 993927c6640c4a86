/** Loaded before the command: a terminal whose handle cannot be made non-blocking. */
interface Terminal {
  isTTY: boolean
  readonly _handle?: { setBlocking?: unknown }
}

const terminal = process.stdout as Terminal
terminal.isTTY = true
if (terminal._handle) Object.defineProperty(terminal._handle, 'setBlocking', { value: undefined })
