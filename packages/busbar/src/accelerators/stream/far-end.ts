import type { BusbarError, ErrorRecord } from '../../contract/errors.ts'
import type { Channel, ChannelHandler } from '../../mesh/links/link.ts'
import { Outflow } from '../../mesh/links/outflow.ts'
import type { End, OtherEnd } from './end.ts'

/** Bytes that wait for credit before a write is held. With them and what is under way it comes to some 1.5 MiB. */
const maxSending = 256 * 1024

/** Bytes that wait for this side's socket before the other side hears that it should stop. */
const maxWaiting = 128 * 1024

/**
 * The other end of a connection that leads to another worker, on either side of the link: what this side's {@link End}
 * sends goes into the channel, and what comes out of that goes to the end.
 *
 * A direction's last word says how it ended: nothing where only that direction did (a half-closed connection), `gone`
 * where the socket was destroyed, `reset` where its reader shall know that something was lost.
 */
export class FarEnd implements OtherEnd, ChannelHandler {
  gone = false
  readonly #end: End
  readonly #channel: Channel
  readonly #outflow: Outflow
  readonly #leave: () => void
  /** Values that wait until the end has room again. */
  #untaken = 0

  /** `leave`: ends a call whose directions have had their last words. */
  constructor(end: End, channel: Channel, leave: () => void) {
    this.#end = end
    this.#channel = channel
    this.#outflow = new Outflow(channel, () => {})
    this.#leave = leave
  }

  // What this side's socket does

  get hasRoom(): boolean {
    return this.#outflow.size < maxSending
  }

  receive(chunk: Buffer, owned: boolean): boolean {
    this.#outflow.write(owned ? chunk : new Uint8Array(chunk))
    return this.hasRoom
  }

  finishWith(how: 'end' | 'reset'): void {
    if (this.#end.gone) this.#channel.abandon()
    if (this.#outflow.ended) {
      if (this.#end.gone) this.#leave()
    } else if (how === 'reset') this.#outflow.end('reset')
    else this.#outflow.end(this.#end.gone ? 'gone' : undefined)
    if (this.#end.gone) this.#take()
  }

  makeRoom(): void {
    if (this.#end.waiting < maxWaiting) this.#take()
  }

  // What the other side's does

  onData(value: unknown): void {
    this.#untaken++
    if (!(value instanceof Uint8Array)) this.#lose()
    else {
      if (!this.#end.gone) this.#end.receive(asBuffer(value), true)
      if (this.#end.waiting < maxWaiting) this.#take()
    }
  }

  onEnd(how: unknown): void {
    if (how !== undefined && how !== null) this.gone = true
    this.#end.finishWith(how === 'reset' ? 'reset' : 'end')
  }

  /** The callee has left, or is lost. */
  onError({ code }: ErrorRecord): void {
    this.gone = true
    this.#end.finishWith(code === left.callee.code ? 'end' : 'reset')
  }

  /** The caller has left, or is lost. */
  onCancel({ code }: ErrorRecord): void {
    this.gone = true
    this.#end.finishWith(code === left.caller.code ? 'end' : 'reset')
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
    this.#end.finishWith('reset')
  }
}

/** How a call ends of which one side half-closed its direction before it destroyed its socket. */
export const left = {
  caller: { code: 'CALL_ABORTED', message: 'the caller closed the connection' },
  callee: { code: 'SERVICE_HANGUP', message: 'the service closed the connection' },
} as const satisfies Record<string, Pick<BusbarError, 'code' | 'message'>>

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
