/**
 * Errors that pass undici's `instanceof` checks. From version 6 on, undici checks a registered
 * symbol instead of the prototype, so that errors of one copy are recognized by another.
 */
export interface UndiciError extends Error {
  readonly code: string
}

const socketCode = 'UND_ERR_SOCKET'

export function abortedError(): UndiciError {
  return branded('AbortError', 'UND_ERR_ABORTED', 'Request aborted', 'UND_ERR_ABORT')
}

/** undici's error for a closed connection, unless the connection was refused. */
export function toClientError(error: Error): Error {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ECONNREFUSED') return error
  const closed = code === socketCode ? error : new Error('other side closed', { cause: error })
  return Object.assign(brand(closed, socketCode), { name: 'SocketError', code: socketCode, socket: null })
}

export function headersTimeoutError(): UndiciError {
  return branded('HeadersTimeoutError', 'UND_ERR_HEADERS_TIMEOUT', 'Headers Timeout Error')
}

export function bodyTimeoutError(): UndiciError {
  return branded('BodyTimeoutError', 'UND_ERR_BODY_TIMEOUT', 'Body Timeout Error')
}

export function requestLengthError(): UndiciError {
  return branded(
    'RequestContentLengthMismatchError',
    'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
    'Request body length does not match content-length header',
  )
}

function branded(name: string, code: string, message: string, ...parents: string[]): UndiciError {
  return Object.assign(brand(new Error(message), code, ...parents), { name, code })
}

function brand<E extends Error>(error: E, ...codes: string[]): E {
  for (const code of ['UND_ERR', ...codes])
    Object.defineProperty(error, Symbol.for(`undici.error.${code}`), { value: true, configurable: true })
  return error
}
