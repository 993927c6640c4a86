import { isAscii } from 'node:buffer'
import type { ExchangeRequest } from '../../../mesh/http/exchange.ts'
import { hopsHeader } from '../../../mesh/sockets/hops-header.ts'

export interface TextRequest {
  readonly request: ExchangeRequest
  /** Undefined if the client has written no number of hops. */
  readonly hops: number | undefined
}

/** A longer head is left to the server's parser, which has a limit of its own. */
const maxHead = 8 * 1024
/** A body up to this size may be passed as a string, which links carry at less cost. */
const maxText = 16 * 1024

const requestLine = /^([A-Z-]+) (\/[^ ]*) HTTP\/1\.1$/
const headEnd = '\r\n\r\n'

/**
 * Fields that only a connection handles exactly, or that say that more bytes follow. An exchange
 * itself refuses what else a parser must see.
 */
const refused: ReadonlySet<string> = new Set(['expect', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/**
 * Reads the bytes of one write as a whole request. Undefined for everything else: it is not HTTP,
 * the body is not complete, more follows, or the text is unusual in any way. Whether names and
 * values are valid is checked by `Exchanges.open`.
 */
export function readRequest(bytes: Buffer): TextRequest | undefined {
  const end = bytes.indexOf(headEnd)
  if (end === -1 || end > maxHead) return undefined
  return readParts(bytes.toString('latin1', 0, end), bytes.subarray(end + headEnd.length))
}

/** The same for what a client writes in two parts. `head` ends with an empty line. */
export function readRequestParts(head: string, body: Uint8Array | null): TextRequest | undefined {
  const end = head.length - headEnd.length
  if (end > maxHead || head.indexOf(headEnd) !== end) return undefined
  return readParts(head.slice(0, end), body ?? nothing)
}

const nothing = Buffer.alloc(0)

function readParts(head: string, bytes: Uint8Array): TextRequest | undefined {
  const lines = head.split('\r\n')
  const [, method, path] = requestLine.exec(lines[0]!) ?? []
  const fields = method === undefined ? undefined : readFields(lines)
  if (fields === undefined || fields.length !== bytes.length) return undefined
  const body = fields.length === 0 ? null : bodyOf(bytes)
  const request = { method: method!, path: path!, rawHeaders: fields.raw, body, streamed: false }
  return { request, hops: fields.hops }
}

interface Fields {
  readonly raw: string[]
  /** Of the body. */
  length: number
  hops: number | undefined
}

/** Undefined unless there is exactly one `Host`. */
function readFields(lines: readonly string[]): Fields | undefined {
  const fields: Fields = { raw: [], length: 0, hops: undefined }
  let hosts = 0
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at]!
    const colon = line.indexOf(':')
    if (colon < 1) return undefined
    const name = line.slice(0, colon)
    const value = line.slice(line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1)
    fields.raw.push(name, value)
    const key = name.toLowerCase()
    if (refused.has(key)) return undefined
    if (key === 'host') hosts++
    else if (key === 'content-length') fields.length = Number(value)
    // The last one counts, as at the server.
    else if (key === hopsHeader) fields.hops = Number.parseInt(value, 10) || undefined
  }
  return hosts === 1 ? fields : undefined
}

/** The same bytes. */
function bodyOf(bytes: Uint8Array): string | Uint8Array {
  if (bytes.length > maxText || !isAscii(bytes)) return bytes
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
