import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { refusal } from '../../contract/http/request-content.ts'

/** A request whose body a middleware may have read. Body parsers set `body`. */
export interface ParsedRequest extends IncomingMessage {
  readonly body?: unknown
}

/** The program around the service has read the body and has not set `req.body`. */
export class BodyAlreadyRead extends Error {
  constructor() {
    super(
      'the body of a request was read before the service got it, and is not in req.body: mount the service before the middleware that reads it, or let that middleware set req.body',
    )
    this.name = 'BodyAlreadyRead'
  }
}

/**
 * The text of a body that was read before. A parsed value is written as JSON again, so that its
 * depth, keys and tags are checked like those of any other input. Throws {@link BodyAlreadyRead} or
 * REQUEST_MALFORMED.
 */
export function parsedText({ body, headers }: ParsedRequest): string {
  if (body instanceof Uint8Array) return textOf(body)
  if (typeof body === 'string') return isWhole(body, headers) ? body : JSON.stringify(body)
  const text = stringify(body)
  if (text === undefined) throw new BodyAlreadyRead()
  return text
}

/** Decodes strictly: JSON is UTF-8 (RFC 8259, 8.1), and replacement characters would change it. */
export function textOf(bytes: Uint8Array): string {
  if (isUtf8(bytes))
    return Buffer.isBuffer(bytes)
      ? bytes.toString()
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  throw refusal('REQUEST_MALFORMED', 'the input is not UTF-8', 'gateway')
}

/**
 * True if the text is the body itself, false if it is the value of a body that is a JSON string.
 * Such a body is longer, by its quotation marks. Only parsers that are not strict produce such
 * values.
 */
function isWhole(body: string, headers: IncomingMessage['headers']): boolean {
  const { 'content-length': length, 'content-encoding': encoding } = headers
  return length === undefined || encoding !== undefined || Buffer.byteLength(body) === Number(length)
}

function stringify(body: unknown): string | undefined {
  try {
    return JSON.stringify(body)
  } catch (error) {
    throw refusal('REQUEST_MALFORMED', `req.body cannot be written as JSON: ${(error as Error).message}`, 'gateway')
  }
}
