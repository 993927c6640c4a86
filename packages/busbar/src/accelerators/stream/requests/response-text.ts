import { STATUS_CODES } from 'node:http'
import { bodyFramingOf } from '../../../mesh/http/body-framing.ts'
import type { ResponseHead } from '../../../mesh/http/exchange.ts'

type Chunk = Uint8Array | string
type Fields = Readonly<Record<string, string | string[]>>

const closing = /(?:^|\W)close(?:$|\W)/i

/** Turns the values of one response into the text that a client's parser reads. */
export class ResponseText {
  readonly #method: string
  /** Text that goes with the next bytes. */
  #head = ''
  #isChunked = false
  /** Bytes to come. NaN if no length is stated. */
  #left = NaN
  #isLast = false

  constructor(method: string) {
    this.#method = method
  }

  /** The connection ends after this response, once it is complete. */
  get isLast(): boolean {
    // A body of another length than the stated one cannot be followed by anything.
    return this.#isLast || !(this.#left === 0 || Number.isNaN(this.#left))
  }

  information(status: number, headers: Fields): Buffer {
    return Buffer.from(headOf(status, STATUS_CODES[status] ?? '', fieldsOf(headers)), 'latin1')
  }

  /** Keeps the head for the first bytes of the body. */
  begin(head: ResponseHead): void {
    const { status, statusText, headers, rawHeaders } = head
    this.#head = headOf(status, statusText, rawHeaders ?? fieldsOf(headers))
    const framing = bodyFramingOf(head, this.#method)
    this.#isChunked = framing?.kind === 'chunked'
    if (framing?.kind === 'length') this.#left = framing.length
    this.#isLast = framing?.kind === 'close' || closing.test(String(headers.connection))
  }

  /** The head that no bytes have followed. */
  takeHead(): Buffer | undefined {
    const head = this.#head
    this.#head = ''
    return head === '' ? undefined : Buffer.from(head, 'latin1')
  }

  data(chunk: Chunk): Buffer {
    const size = typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.length
    this.#left -= size
    const before = this.#isChunked ? `${this.#head}${size.toString(16)}\r\n` : this.#head
    this.#head = ''
    const end = before.length + size
    const text = Buffer.allocUnsafe(this.#isChunked ? end + 2 : end)
    text.write(before, 'latin1')
    if (typeof chunk === 'string') text.write(chunk, before.length)
    else text.set(chunk, before.length)
    if (this.#isChunked) text.write('\r\n', end, 'latin1')
    return text
  }

  /** What follows the last bytes, with the head if there were none. */
  end(trailers: Fields): Buffer | undefined {
    if (this.#isChunked) this.#head += `0\r\n${linesOf(fieldsOf(trailers))}\r\n`
    return this.takeHead()
  }
}

function headOf(status: number, statusText: string, fields: readonly string[]): string {
  return `HTTP/1.1 ${status} ${statusText}\r\n${linesOf(fields)}\r\n`
}

function linesOf(fields: readonly string[]): string {
  let lines = ''
  for (let at = 0; at < fields.length; at += 2) lines += `${fields[at]!}: ${fields[at + 1]!}\r\n`
  return lines
}

function fieldsOf(record: Fields): string[] {
  return Object.entries(record).flatMap(([name, value]) => [value].flat().flatMap((one) => [name, one]))
}
