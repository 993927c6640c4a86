import { BusbarError, type ErrorCode } from '../errors.ts'
import { fromUncarriable } from '../host/failures.ts'
import { decodeJson, MalformedJson } from '../value/decode.ts'

export const timeoutHeader = 'busbar-timeout'

/** In lower case; what is repeated is joined. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>

/** The value of a body. A byte order mark before it says nothing (RFC 8259, 8.1). Throws the BusbarError that it is refused with. */
export function readContent(text: string, site: { service: string; method: string }): unknown {
  return readable(site, () => decodeJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text))
}

/** What `read` returns. Throws the BusbarError of what cannot be read. */
export function readable(site: { service: string; method: string }, read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof MalformedJson)
      throw refusal('REQUEST_MALFORMED', `the input is no JSON: ${error.message}`, site.service)
    throw fromUncarriable(site, error)
  }
}

export const jsonType = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

/** Why a body cannot be read: it is encoded, and nobody has decoded it. */
export function encodingFault(headers: RequestHeaders, service: string): BusbarError | undefined {
  const encoding = first(headers['content-encoding'])
  if (encoding === undefined || /^(?:identity)?$/i.test(encoding.trim())) return undefined
  return refusal('MEDIA_TYPE_UNSUPPORTED', `the input is encoded as ${encoding}, and is only read as it is`, service)
}

export function refusal(code: ErrorCode, message: string, service: string): BusbarError {
  return new BusbarError(code, { message, service })
}

/** Of a header that may be repeated. */
export function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
