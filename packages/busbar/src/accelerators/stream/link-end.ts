import type { ErrorRecord } from '../../contract/errors.ts'
import { type Channel, type ChannelHandler, closedBy } from '../../mesh/links/link.ts'
import { ChannelWriter } from '../../mesh/links/channel-writer.ts'
import type { RequestCounter } from '../../mesh/sockets/instance/request-counter.ts'
import type { ConnectionEnd, OppositeEnd } from './connection-end.ts'

/** Bytes that wait for credit before a write is held. With the bytes on the link, about 1.5 MiB. */
const maxSending = 256 * 1024

/** Bytes that wait for this side's socket before the other side gets no more credit. */
const maxWaiting = 128 * 1024

/**
 * Stands for the end of a connection that is in another worker, on either side of the link. What
 * this side's {@link ConnectionEnd} sends goes into the channel, and what the channel delivers goes
 * to the end.
 *
 * A number asks the other side to close its socket if it has sent that many bytes and no more.
 *
 * The last value of a direction tells how it ended: undefined for a half-close, `gone` if the
 * socket was destroyed, `reset` if data was lost.
 */
export class LinkEnd implements OppositeEnd, ChannelHandler {
  gone = false
  readonly #end: ConnectionEnd
  readonly #channel: Channel
  readonly #outflow: ChannelWriter
  readonly #leave: () => void
  readonly #counter: RequestCounter | undefined
  /** Number of values without credit, until the end has room again. */
  #untaken = 0

  /**
   * `leave`: ends a call after both directions have ended. `counter`: for the caller of a host that
   * does not count.
   */
  constructor(end: ConnectionEnd, channel: Channel, leave: () => void, counter?: RequestCounter) {
    this.#end = end
    this.#channel = channel
    this.#outflow = new ChannelWriter(channel, () => {})
    this.#leave = leave
    this.#counter = counter
  }

  // Called for this side's socket

  get hasRoom(): boolean {
    return this.#outflow.size < maxSending
  }

  receive(chunk: Buffer, owned: boolean): boolean {
    this.#counter?.sent(chunk)
    this.#outflow.write(owned ? chunk : new Uint8Array(chunk))
    return this.hasRoom
  }

  finishWith(how: 'end' | 'reset'): void {
    if (this.#end.gone) {
      this.#counter?.closed(false)
      this.#channel.abandon()
    }
    if (this.#outflow.ended) {
      if (this.#end.gone) this.#leave()
    } else if (how === 'reset') this.#outflow.end('reset')
    else this.#outflow.end(this.#end.gone ? 'gone' : undefined)
    if (this.#end.gone) this.#take()
  }

  closeIfSent(received: number): void {
    if (this.hasRoom) this.#outflow.writeValue(received)
  }

  makeRoom(): void {
    if (this.#end.waiting < maxWaiting) this.#take()
  }

  // Called for the other side's socket

  onData(value: unknown): void {
    this.#untaken++
    if (value instanceof Uint8Array) {
      const bytes = asBuffer(value)
      this.#counter?.received(bytes)
      if (!this.#end.gone) this.#end.receive(bytes, true)
    } else if (typeof value === 'number') this.#end.closeIfSent(value)
    else return this.#lose()
    if (this.#end.waiting < maxWaiting) this.#take()
  }

  onEnd(how: unknown): void {
    if (how !== undefined && how !== null) this.gone = true
    this.#finish(how === 'reset' ? 'reset' : 'end')
  }

  /** The callee has closed, or is lost. */
  onError({ code }: ErrorRecord): void {
    this.gone = true
    this.#finish(code === closedBy.callee.code ? 'end' : 'reset')
  }

  /** The caller has closed, or is lost. */
  onCancel({ code }: ErrorRecord): void {
    this.gone = true
    this.#finish(code === closedBy.caller.code ? 'end' : 'reset')
  }

  onDrain(): void {
    this.#outflow.drained()
    this.#end.makeRoom()
  }

  #take(): void {
    const count = this.#untaken
    this.#untaken = 0
    if (count > 0) this.#channel.consumed(count)
  }

  #lose(): void {
    this.gone = true
    this.#leave()
    this.#finish('reset')
  }

  #finish(how: 'end' | 'reset'): void {
    if (how === 'end') this.#counter?.ended()
    else this.#counter?.closed(true)
    this.#end.finishWith(how)
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
