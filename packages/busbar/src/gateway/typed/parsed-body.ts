import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { refusal } from '../../contract/http/content.ts'

/** A request whose body a middleware may have read: body parsers leave it as `body`. */
export interface ParsedRequest extends IncomingMessage {
  readonly body?: unknown
}

/** The body was read by somebody who kept it: a fault of the program around the service. */
export class BodyTaken extends Error {
  constructor() {
    super(
      'the body of a request was read before the service was asked, and is not in req.body: put the service before whatever reads it, or let that set req.body',
    )
    this.name = 'BodyTaken'
  }
}

/**
 * The text of a body that was read before. What a parser made of JSON is written as JSON again, so that it is judged like
 * any other text: its depth, its keys and its tags. Throws BodyTaken, or REQUEST_MALFORMED.
 */
export function parsedText({ body, headers }: ParsedRequest): string {
  if (body instanceof Uint8Array) return textOf(body)
  if (typeof body === 'string') return isWhole(body, headers) ? body : JSON.stringify(body)
  const text = stringify(body)
  if (text === undefined) throw new BodyTaken()
  return text
}

/** Bytes as text. JSON is UTF-8 (RFC 8259, 8.1), and replaced characters would be what nobody sent. */
export function textOf(bytes: Uint8Array): string {
  if (isUtf8(bytes))
    return Buffer.isBuffer(bytes)
      ? bytes.toString()
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  throw refusal('REQUEST_MALFORMED', 'the input is no UTF-8', 'gateway')
}

/**
 * Whether a text is the body itself and not the value of one that is a JSON string, which is longer by its quotation marks.
 * Only parsers that were told not to be strict make such values.
 */
function isWhole(body: string, headers: IncomingMessage['headers']): boolean {
  const { 'content-length': length, 'content-encoding': encoding } = headers
  return length === undefined || encoding !== undefined || Buffer.byteLength(body) === Number(length)
}

function stringify(body: unknown): string | undefined {
  try {
    return JSON.stringify(body)
  } catch (error) {
    throw refusal('REQUEST_MALFORMED', `req.body is no JSON: ${(error as Error).message}`, 'gateway')
  }
}
