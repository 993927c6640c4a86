/** Before the command at a terminal whose handle only Node's own code has write without waiting. */
interface Terminal {
  isTTY: boolean
  readonly _handle?: { setBlocking?: unknown }
}

const terminal = process.stdout as Terminal
terminal.isTTY = true
if (terminal._handle) Object.defineProperty(terminal._handle, 'setBlocking', { value: undefined })
