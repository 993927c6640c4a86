import { BusbarError, type ErrorCode } from '../errors.ts'
import { toInputInvalid } from '../host/failures.ts'
import { decodeJson, MalformedJson } from '../value/decode.ts'

export const timeoutHeader = 'busbar-timeout'

/** Names in lower case; repeated headers are joined. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * Parses a body. A byte order mark is ignored (RFC 8259, 8.1). Throws the BusbarError to answer
 * with.
 */
export function readContent(text: string, site: { service: string; method: string }): unknown {
  return readable(site, () => decodeJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text))
}

/** Returns the result of `read`. Throws the BusbarError to answer with for unreadable input. */
export function readable(site: { service: string; method: string }, read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof MalformedJson)
      throw refusal('REQUEST_MALFORMED', `the input is not JSON: ${error.message}`, site.service)
    throw toInputInvalid(site, error)
  }
}

export const jsonType = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

/** The error for a body with a content encoding, which is not decoded here. */
export function encodingFault(headers: RequestHeaders, service: string): BusbarError | undefined {
  const encoding = first(headers['content-encoding'])
  if (encoding === undefined || /^(?:identity)?$/i.test(encoding.trim())) return undefined
  return refusal(
    'MEDIA_TYPE_UNSUPPORTED',
    `the input is encoded as ${encoding}; only the encoding identity is supported`,
    service,
  )
}

export function refusal(code: ErrorCode, message: string, service: string): BusbarError {
  return new BusbarError(code, { message, service })
}

/** The first value of a header that may be repeated. */
export function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
