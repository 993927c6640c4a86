/** What follows a head: so many bytes, chunks, or all bytes up to the end of the connection. */
export type Body = number | 'chunks' | 'rest'

export interface MessageSink {
  /** The head of a message, with the line that ends its fields. Returns the form of its body. */
  begun(head: string): Body
  /** The message is complete. One with a body of form `rest` only ends with its connection. */
  ended(): void
}

/** What is longer is no head: Node's limit is 16 KiB, and may be raised. */
const longestHead = 256 * 1024
/** Of a chunk's size with its extensions. */
const longestLine = 16 * 1024

const headEnd = '\r\n\r\n'
const newline = 10

type State = 'head' | 'body' | 'size' | 'chunk' | 'trailer' | 'rest'

/**
 * Finds the heads and the ends of the messages in one direction of an HTTP/1 connection. It keeps
 * no bytes of bodies, and changes nothing.
 */
export class MessageScan {
  readonly #sink: MessageSink
  #state: State = 'head'
  /** What there is of a line. */
  #text = ''
  readonly #head = new PartialHead()
  /** Bytes that are to come, of a body or of a chunk with its line break. */
  #left = 0
  #isMalformed = false

  constructor(sink: MessageSink) {
    this.#sink = sink
  }

  /** All bytes up to the end of the connection belong to the last message. */
  get isOpenEnded(): boolean {
    return this.#state === 'rest' && !this.#isMalformed
  }

  /** What came is no message of HTTP/1. */
  get isMalformed(): boolean {
    return this.#isMalformed
  }

  add(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length && this.#state !== 'rest') at = this.#step(bytes, at)
  }

  /** Returns where the next step begins. */
  #step(bytes: Buffer, at: number): number {
    if (this.#state === 'head') return this.#readHead(bytes, at)
    if (this.#state === 'body' || this.#state === 'chunk') return this.#skip(bytes, at)
    return this.#readLine(bytes, at)
  }

  #readHead(bytes: Buffer, at: number): number {
    const next = this.#head.add(bytes, at)
    if (next === undefined) return this.#head.length > longestHead ? this.#fail(bytes) : bytes.length
    this.#begin(this.#head.take())
    return next
  }

  #begin(head: string): void {
    // A line break before a request is ignored (RFC 9112, 2.2).
    const body = this.#sink.begun(head.replace(/^(?:\r\n)+/, ''))
    if (body === 'rest') this.#state = 'rest'
    else if (body === 'chunks') this.#state = 'size'
    else if (body === 0) this.#end()
    else {
      this.#state = 'body'
      this.#left = body
    }
  }

  #end(): void {
    this.#state = 'head'
    this.#sink.ended()
  }

  #skip(bytes: Buffer, at: number): number {
    const skipped = Math.min(this.#left, bytes.length - at)
    this.#left -= skipped
    if (this.#left === 0 && this.#state === 'chunk') this.#state = 'size'
    else if (this.#left === 0) this.#end()
    return at + skipped
  }

  /** A chunk's size, or a trailer field. */
  #readLine(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(newline, at)
    const next = found < 0 ? bytes.length : found + 1
    this.#text += bytes.toString('latin1', at, next)
    if (this.#text.length > longestLine) return this.#fail(bytes)
    if (found < 0) return next
    const line = this.#text.trimEnd()
    this.#text = ''
    if (this.#state === 'trailer') {
      if (line === '') this.#end()
      return next
    }
    const size = /^[\da-f]+(?=[\s;]|$)/i.exec(line)?.[0]
    if (size === undefined) return this.#fail(bytes)
    this.#left = Number.parseInt(size, 16) + 2
    this.#state = this.#left === 2 ? 'trailer' : 'chunk'
    return next
  }

  #fail(bytes: Buffer): number {
    this.#state = 'rest'
    this.#isMalformed = true
    this.#text = ''
    this.#head.take()
    return bytes.length
  }
}

/** A head that comes in any number of parts. Each is looked at once. */
class PartialHead {
  #parts: string[] = []
  /** The end of the parts, which may be the beginning of the head's end. */
  #tail = ''
  length = 0

  /** Returns where the head ends in `bytes`, if it does. */
  add(bytes: Buffer, at: number): number | undefined {
    const found = this.#endIn(bytes, at)
    const part = bytes.toString('latin1', at, found)
    this.#parts.push(part)
    this.length += part.length
    this.#tail = (this.#tail + part.slice(1 - headEnd.length)).slice(1 - headEnd.length)
    return found
  }

  take(): string {
    const head = this.#parts.length === 1 ? this.#parts[0]! : this.#parts.join('')
    this.#parts = []
    this.#tail = ''
    this.length = 0
    return head
  }

  #endIn(bytes: Buffer, at: number): number | undefined {
    const tail = this.#tail
    if (tail !== '') {
      const seam = tail + bytes.toString('latin1', at, at + headEnd.length - 1)
      const end = seam.indexOf(headEnd)
      if (end >= 0) return at + end + headEnd.length - tail.length
    }
    const found = bytes.indexOf(headEnd, at)
    return found < 0 ? undefined : found + headEnd.length
  }
}
