import type { Socket } from 'node:net'
import type { ErrorRecord } from '../../contract/errors.ts'
import { ChannelWriter } from '../links/channel-writer.ts'
import { type Channel, type ChannelHandler, closedBy } from '../links/link.ts'

/**
 * Carries the bytes of a system socket as a call of kind `bytes`, at either end of a link between
 * two apps. The window of the call limits what one side has sent and the other has not taken.
 */
export class PipedConnection implements ChannelHandler {
  readonly #socket: Socket
  readonly #side: keyof typeof closedBy
  readonly #refused: ((error: ErrorRecord) => void) | undefined
  #channel: Channel | undefined
  #writer: ChannelWriter | undefined
  /** Values that wait for the socket, and for which the peer gets no credit yet. */
  #untaken = 0

  /**
   * `socket` may still be connecting. It allows half-open connections. `refused`: tells a caller
   * that the call did not start.
   */
  constructor(socket: Socket, side: keyof typeof closedBy, refused?: (error: ErrorRecord) => void) {
    this.#socket = socket
    this.#side = side
    this.#refused = refused
  }

  /** Begins to read the socket. Call it once. */
  start(channel: Channel): void {
    const socket = this.#socket
    this.#channel = channel
    this.#writer = new ChannelWriter(channel, () => socket.resume())
    let hasFailed = false
    socket
      .on('data', (chunk: Buffer) => {
        if (!this.#writer!.write(new Uint8Array(chunk))) socket.pause()
      })
      .on('end', () => this.#writer!.end())
      .on('drain', () => this.#take())
      .on('error', () => (hasFailed = true))
      .once('close', () => this.#closed(hasFailed))
  }

  onData(value: unknown): void {
    this.#untaken++
    if (!(value instanceof Uint8Array)) return resetConnection(this.#socket)
    if (this.#socket.destroyed || this.#socket.writableEnded || this.#socket.write(value)) this.#take()
  }

  onEnd(how: unknown): void {
    if (how === 'reset') return resetConnection(this.#socket)
    if (how === 'gone') this.#socket.destroySoon()
    else this.#socket.end()
  }

  onError(error: ErrorRecord, notStarted: boolean): void {
    if (notStarted && this.#refused !== undefined) this.#refused(error)
    else this.#over(error)
  }

  onCancel(reason: ErrorRecord): void {
    this.#over(reason)
  }

  onDrain(): void {
    this.#writer?.drained()
  }

  /**
   * The call is over. Closes the socket after all that is written if the other socket has closed in
   * order, else resets it.
   */
  #over({ code }: ErrorRecord): void {
    const other = this.#side === 'caller' ? closedBy.callee : closedBy.caller
    if (code === other.code) this.#socket.destroySoon()
    else resetConnection(this.#socket)
  }

  #take(): void {
    const count = this.#untaken
    this.#untaken = 0
    if (count > 0) this.#channel?.consumed(count)
  }

  #closed(hasFailed: boolean): void {
    this.#take()
    const writer = this.#writer!
    if (writer.ended) this.#leave()
    else writer.end(hasFailed ? 'reset' : 'gone')
  }

  /** Ends the call. Sends nothing if it is over already. */
  #leave(): void {
    const reason = closedBy[this.#side]
    if (this.#side === 'caller') this.#channel!.cancel(reason)
    else this.#channel!.fail(reason)
  }
}

/** Only TCP has resets. Another socket is closed, which its reader sees as the end. */
export function resetConnection(socket: Socket): void {
  try {
    socket.resetAndDestroy()
  } catch {
    socket.destroy()
  }
}
