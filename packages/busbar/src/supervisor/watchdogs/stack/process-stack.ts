import { once } from 'node:events'
import { settlesWithin } from '../../../shared/time/settles-within.ts'
import { type DebuggerChannel, pausedStack } from './paused-stack.ts'

/** Milliseconds. */
const openTimeout = 3000

/** What Node prints of its debugger, beside the address. */
const debuggerLine =
  /^(?:For help, see: |Debugger attached\.$|Debugger ending on ws:|Waiting for the debugger to disconnect)/

/** Asks a process that is about to be ended for the stack that it executes. */
export class ProcessStack {
  readonly #url = Promise.withResolvers<string>()
  #isOpening = false

  /** Returns true for a line of standard error that belongs to the debugger. */
  takesLine(line: string): boolean {
    if (!this.#isOpening) return false
    const url = /^Debugger listening on (ws:\/\/\S+)$/.exec(line)?.[1]
    if (url !== undefined) this.#url.resolve(url)
    return url !== undefined || debuggerLine.test(line)
  }

  /** `signal` sends SIGUSR1. Undefined if the process does not execute JavaScript. */
  async read(signal: () => void): Promise<readonly string[] | undefined> {
    this.#isOpening = true
    signal()
    if (!(await settlesWithin(openTimeout, [this.#url.promise]))) return undefined
    const socket = new WebSocket(await this.#url.promise)
    try {
      if (!(await settlesWithin(openTimeout, [once(socket, 'open')]))) return undefined
      return await pausedStack(channelOf(socket))
    } catch {
      return undefined
    } finally {
      socket.close()
    }
  }
}

function channelOf(socket: WebSocket): DebuggerChannel {
  const channel: DebuggerChannel = { send: (message) => socket.send(message), receive: () => {} }
  socket.addEventListener('message', ({ data }) => channel.receive(String(data)))
  return channel
}
