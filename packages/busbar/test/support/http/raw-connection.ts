import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface Answer {
  readonly status: number
  readonly body: string
}

const news = ['data', 'end', 'close']

/** One keep-alive connection with hand-written HTTP. */
export class Connection implements Disposable {
  readonly socket: Socket
  #received = ''
  #ended = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => (this.#received += text))
    socket.on('end', () => (this.#ended = true))
    socket.on('close', () => (this.#ended = true))
    // A reset also closes it.
    socket.on('error', () => {})
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    await once(socket, 'connect')
    return new Connection(socket)
  }

  send(path: string): void {
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`)
  }

  /** The next complete answer. Undefined if the connection closes before. */
  async answer(): Promise<Answer | undefined> {
    for (;;) {
      const found = /^HTTP\/1\.1 (\d{3})[^]*?content-length: (\d+)[^]*?\r\n\r\n/i.exec(this.#received)
      if (found !== null) {
        const end = found[0].length + Number(found[2])
        if (this.#received.length >= end) {
          const body = this.#received.slice(found[0].length, end)
          this.#received = this.#received.slice(end)
          return { status: Number(found[1]), body }
        }
      }
      if (this.#ended) return undefined
      await this.#news()
    }
  }

  /** Thread of the program behind this connection. */
  async thread(): Promise<number | undefined> {
    this.send('/')
    const answer = await this.answer()
    return answer && (JSON.parse(answer.body) as { thread: number }).thread
  }

  async #news(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    for (const event of news) this.socket.once(event, resolve)
    await promise
    for (const event of news) this.socket.off(event, resolve)
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }
}

export async function openMany(port: number, count: number): Promise<Connection[] & Disposable> {
  const all = await Promise.all(Array.from({ length: count }, () => Connection.open(port)))
  return Object.assign(all, {
    [Symbol.dispose]: () => {
      for (const one of all) one[Symbol.dispose]()
    },
  })
}
