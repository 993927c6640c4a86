import { isExhaustion } from '../../shared/process/descriptors.ts'
import type { Limits } from '../../config/app.ts'
import { BusbarError, type ErrorCode } from '../../contract/errors.ts'
import type { Problem } from './problem.ts'

export const stopping: Problem = {
  code: 'SERVICE_UNAVAILABLE',
  reason: 'stopping',
  detail: 'The gateway is stopping',
  headers: { 'retry-after': '1' },
}

export const needsCertificate: Problem = {
  code: 'CLIENT_CERTIFICATE_MISSING',
  detail: 'This path needs a connection over TLS with a certificate of the client',
}

export function malformed(reason: string): Problem {
  return { code: 'REQUEST_MALFORMED', detail: `The request cannot be served: ${reason}` }
}

/** The gateway is no proxy. */
export const noTunnel: Problem = { ...malformed('CONNECT is not supported'), reason: 'not_implemented' }

export function tooLarge(maxBodySize: number): Problem {
  return { code: 'BODY_TOO_LARGE', detail: `The body is larger than ${maxBodySize} bytes`, more: { maxBodySize } }
}

export function unavailable(service: string): Problem {
  return {
    code: 'SERVICE_UNAVAILABLE',
    detail: `Service '${service}' is not serving`,
    more: { service },
    headers: { 'retry-after': '1' },
  }
}

/** `routes`: the prefixes that are closest to the requested path. */
export function noRoute(routes: readonly string[]): Problem {
  const nearest = routes.length === 0 ? 'there are no routes' : `the nearest are ${routes.join(', ')}`
  return { code: 'ROUTE_NOT_FOUND', detail: `No route matches this path: ${nearest}`, more: { routes } }
}

/** The service closed its connection, or ended, before it responded. */
export function noResponse(service: string | undefined, code: ErrorCode): Problem {
  return { code, detail: `Service '${service}' ended before it had answered`, more: { service } }
}

/** The bytes of the service are not included: they may be anything. */
function malformedResponse(service: string): Problem {
  return {
    code: 'ANSWER_MALFORMED',
    detail: `Service '${service}' answered with something that is not HTTP`,
    more: { service },
  }
}

/**
 * How a failed call is reported to the client: 503 if no instance was reached, 502 if the instance
 * failed or its response is malformed.
 */
export function failureProblem(error: Error, service: string): Problem {
  const { status, code } = failureStatus(error)
  if (status === 503) return { ...unavailable(service), code }
  return code === 'ANSWER_MALFORMED' ? malformedResponse(service) : noResponse(service, code)
}

function failureStatus(error: Error): { status: number; code: ErrorCode } {
  if (BusbarError.is(error) && (error.status === 502 || error.status === 503)) return error
  const { code = '' } = error as NodeJS.ErrnoException
  if (code.startsWith('HPE_')) return { status: 502, code: 'ANSWER_MALFORMED' }
  return code === 'ECONNREFUSED' || isExhaustion(error)
    ? { status: 503, code: 'SERVICE_UNAVAILABLE' }
    : { status: 502, code: 'SERVICE_HANGUP' }
}

/** An error of Node's parser, of its timers, or of a socket. */
export interface ClientError extends NodeJS.ErrnoException {
  /** The parser's message, such as `Invalid header value char`. */
  reason?: string
  /** What the parser read when it failed, and how much of that it had parsed. */
  rawPacket?: Buffer
  bytesParsed?: number
}

/**
 * The response in cases where Node would write a bare status line. Undefined if the client is gone.
 */
export function clientErrorProblem(error: ClientError, limits: Limits): Problem | undefined {
  if (error.syscall !== undefined) return undefined
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW': {
      const { maxHeaderSize } = limits
      return {
        code: 'HEADERS_TOO_LARGE',
        detail: `The headers are larger than ${maxHeaderSize} bytes`,
        more: { maxHeaderSize },
      }
    }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { ...tooLarge(limits.maxBodySize), reason: 'extension_too_large' }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'REQUEST_TIMEOUT', detail: 'The request did not arrive in time' }
    case undefined:
    default:
      return error.code?.startsWith('HPE_') === true ? malformed(error.reason ?? error.code) : undefined
  }
}

/**
 * The method of a request whose head is at fault. Undefined if it is not in what the parser read
 * last.
 */
export function methodOf({ rawPacket, bytesParsed = 0 }: ClientError): string | undefined {
  const text = rawPacket?.toString('latin1', 0, bytesParsed) ?? ''
  // Behind the head before it. The end of its own may have been parsed.
  const before = text.lastIndexOf('\r\n\r\n', bytesParsed - 5)
  return /^[A-Z]+(?= )/.exec(before === -1 ? text : text.slice(before + 4))?.[0]
}
