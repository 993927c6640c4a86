import { maxUnderWay } from './limits.ts'
import type { Packet, Pipe, PipeListener } from './pipe.ts'

type State =
  | { readonly is: 'pending'; readonly waiting: Packet[] }
  | { readonly is: 'there'; readonly pipe: Pipe }
  | { readonly is: 'closed' }

/**
 * A pipe that is not there yet: it is being dialled, or the other end will. A link can be made of it, and calls may be
 * opened: a service that is told of another can call it at once.
 */
export class PendingPipe implements Pipe {
  #state: State = { is: 'pending', waiting: [] }
  #size = 0
  #listener: PipeListener | undefined

  open(listener: PipeListener): void {
    this.#listener = listener
  }

  send(packet: Packet): boolean {
    if (this.#state.is === 'there') return this.#state.pipe.send(packet)
    if (this.#state.is === 'closed') return true
    this.#state.waiting.push(packet)
    this.#size += packet.text.length
    return this.#size < maxUnderWay
  }

  close(): void {
    const before = this.#state
    this.#state = { is: 'closed' }
    if (before.is === 'there') before.pipe.close()
  }

  /** False where it is too late. */
  fulfil(pipe: Pipe): boolean {
    const before = this.#state
    if (before.is !== 'pending') return false
    this.#state = { is: 'there', pipe }
    pipe.open(this.#listener!)
    let isBehind = this.#size >= maxUnderWay
    for (const packet of before.waiting) isBehind = !pipe.send(packet)
    if (!isBehind && this.#size >= maxUnderWay) this.#listener!.onDrain()
    return true
  }

  /** There will be none. */
  fail(reason: string): void {
    if (this.#state.is !== 'pending') return
    this.#state = { is: 'closed' }
    this.#listener?.onClose(reason)
  }
}
