import type { Packet, Pipe, PipeListener } from './pipe.ts'

/** Two ends of one pipe in this very thread. What is sent arrives in a later turn, as it does from elsewhere. */
export function memoryPipes(): [Pipe, Pipe] {
  const one = new MemoryPipe()
  const other = new MemoryPipe()
  one.other = other
  other.other = one
  return [one, other]
}

type State =
  | { readonly is: 'unheard'; readonly came: (() => void)[] }
  | { readonly is: 'open'; readonly listener: PipeListener }
  | { readonly is: 'closed' }

class MemoryPipe implements Pipe {
  other: MemoryPipe | undefined
  #state: State = { is: 'unheard', came: [] }

  open(listener: PipeListener): void {
    const before = this.#state
    this.#state = { is: 'open', listener }
    if (before.is === 'unheard') for (const tell of before.came) tell()
  }

  send(packet: Packet): boolean {
    if (this.#state.is === 'open') setImmediate(() => this.other?.comes(() => this.other?.take(packet)))
    return true
  }

  close(): void {
    if (this.#state.is === 'closed') return
    this.end()
    setImmediate(() => this.other?.comes(() => this.other?.end()))
  }

  comes(tell: () => void): void {
    if (this.#state.is === 'unheard') this.#state.came.push(tell)
    else tell()
  }

  take(packet: Packet): void {
    if (this.#state.is === 'open') this.#state.listener.onPacket(packet)
  }

  end(): void {
    const before = this.#state
    this.#state = { is: 'closed' }
    if (before.is === 'open') before.listener.onClose(undefined)
  }
}
