import type { Socket } from 'node:net'

/**
 * Follows what a client writes to a connection of HTTP/1, by replacing the socket's `write`.
 * Clients write a head at once, and usually a request only after the response to the previous one.
 * So a write that follows bytes of the server begins a request.
 *
 * Once the connection is to end, each request says `connection: close`. The server's response then
 * says it too, and the client takes another connection for its next request: none is lost between
 * the two ends, however busy the client keeps the connection.
 */
export class RequestWrites {
  readonly #socket: Socket
  /** What had been read when the client last wrote. Undefined before it writes. */
  #readAtWrite: number | undefined
  #isUpgrade = false
  /** A client that does not wait for responses would lose those after the closing one. */
  #pipelines = false
  #ends = false

  /** Call it after `connect`, which restores a replaced `write`, and before the first write. */
  constructor(socket: Socket) {
    this.#socket = socket
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
    const value = (...[data, ...rest]: unknown[]): boolean => write(this.#next(data), ...rest)
    Object.defineProperty(socket, 'write', { value, configurable: true, writable: true })
  }

  /** It asks for an upgrade, or is upgraded: then either end closes it. */
  get isUpgrade(): boolean {
    return this.#isUpgrade
  }

  /** The server has sent something since the client last wrote. */
  get isAnswered(): boolean {
    return this.#readAtWrite !== undefined && this.#socket.bytesRead > this.#readAtWrite
  }

  end(): void {
    this.#ends = true
  }

  #next(data: unknown): unknown {
    const { bytesRead } = this.#socket
    const begins = this.#readAtWrite === undefined || bytesRead > this.#readAtWrite
    this.#readAtWrite = bytesRead
    if (this.#isUpgrade) return data
    const text = textOf(data, begins && this.#ends ? Infinity : longestHead)
    if (!begins) {
      this.#pipelines ||= requestLine.test(text)
      return data
    }
    this.#isUpgrade = upgrade.test(text)
    this.#pipelines ||= requestLine.test(text.slice(headLength(text)))
    if (!this.#ends || this.#isUpgrade || this.#pipelines || !requestLine.test(text)) return data
    const closing = withClose(text)
    return typeof data === 'string' ? closing : Buffer.from(closing, 'latin1')
  }
}

/** Characters in which a head is looked for. */
const longestHead = 16 * 1024

const requestLine = /^[!-~]+ [!-~]+ HTTP\/1\.[01]\r\n/

const upgrade = /^[^\n]*\r\n(?:[^\r]+\r\n)*?upgrade:/i

function textOf(data: unknown, limit: number): string {
  if (typeof data === 'string') return data.slice(0, limit)
  const { buffer, byteOffset, byteLength } = data as Uint8Array
  return Buffer.from(buffer, byteOffset, Math.min(byteLength, limit)).toString('latin1')
}

/** With the empty line. */
function headLength(text: string): number {
  const end = text.indexOf('\r\n\r\n')
  return end < 0 ? text.length : end + 4
}

/** The rest of a head may follow in the next write. */
function withClose(text: string): string {
  const length = headLength(text)
  const others: string[] = []
  // The line break before the first empty line stays.
  const fields = text.slice(0, length).replaceAll(/\r\nconnection:([^\r]*)(?=\r\n)/gi, (_, value: string) => {
    others.push(...value.split(',').map((option) => option.trim()))
    return ''
  })
  const options = ['close', ...others.filter((option) => option !== '' && !/^(?:close|keep-alive)$/i.test(option))]
  const field = `\r\nconnection: ${options.join(', ')}\r\n`
  return `${fields.replace('\r\n', () => field)}${text.slice(length)}`
}
