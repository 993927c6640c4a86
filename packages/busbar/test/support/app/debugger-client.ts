import { once } from 'node:events'

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

export interface Paused {
  readonly callFrames: readonly {
    readonly callFrameId: string
    readonly location: { readonly scriptId: string; readonly lineNumber: number }
  }[]
}

/** A debugger that speaks the Chrome DevTools Protocol over a WebSocket. */
export class DebuggerClient implements Disposable {
  readonly #socket: WebSocket
  readonly #answers = new Map<number, (message: Message) => void>()
  readonly #events: Message[] = []
  #changed: () => void = () => {}
  #next = 1

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(data as string) as Message))
  }

  static async connect(url: string): Promise<DebuggerClient> {
    const socket = new WebSocket(url)
    await once(socket, 'open')
    return new DebuggerClient(socket)
  }

  async send<T>(method: string, params: object = {}): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<Message>()
    this.#answers.set(this.#next, resolve)
    this.#socket.send(JSON.stringify({ id: this.#next++, method, params }))
    const { result, error } = await promise
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result as T
  }

  /** The next event of this kind that has not been read. */
  async event<T>(method: string): Promise<T> {
    for (;;) {
      const at = this.#events.findIndex((event) => event.method === method)
      if (at >= 0) return this.#events.splice(at, 1)[0]!.params as T
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#changed = resolve
      await promise
    }
  }

  [Symbol.dispose](): void {
    this.#socket.close()
  }

  #receive(message: Message): void {
    if (message.id === undefined) {
      this.#events.push(message)
      this.#changed()
    } else {
      this.#answers.get(message.id)?.(message)
      this.#answers.delete(message.id)
    }
  }
}
