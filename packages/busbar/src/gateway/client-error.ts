import { malformed, tooLarge } from './director.ts'
import type { Limits } from '../config/app.ts'
import type { Problem } from './problem.ts'

/** What Node's parser and its timers have to say, besides what sockets do. */
export interface ClientError extends NodeJS.ErrnoException {
  /** The parser's own words, such as `Invalid header value char`. */
  reason?: string
}

/** Where Node would write a bare status line; undefined where nobody is there to read an answer. */
export function problemOf(error: ClientError, limits: Limits): Problem | undefined {
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
      return tooLarge(limits.maxBodySize)
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'REQUEST_TIMEOUT', detail: 'The request did not arrive in time' }
    case undefined:
    default:
      return error.code?.startsWith('HPE_') === true ? malformed(error.reason ?? error.code) : undefined
  }
}
