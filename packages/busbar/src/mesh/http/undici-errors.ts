/**
 * Errors that undici's `instanceof` takes for its own. Every copy of undici from version 6 on asks for a registered
 * symbol instead of the prototype, just so that errors survive the boundary between two copies.
 */
export interface UndiciError extends Error {
  readonly code: string
}

export function abortedError(): UndiciError {
  return branded('AbortError', 'UND_ERR_ABORTED', 'Request aborted', undefined, 'UND_ERR_ABORT')
}

/** What undici makes of the end of a connection, which is what an exchange's failures are, but for a refused one. */
export function toClientError(cause: Error): Error {
  if ((cause as NodeJS.ErrnoException).code === 'ECONNREFUSED') return cause
  const error = branded('SocketError', 'UND_ERR_SOCKET', 'other side closed', cause)
  return Object.assign(error, { socket: null })
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

function branded(name: string, code: string, message: string, cause?: Error, ...parents: string[]): UndiciError {
  const error = new Error(message, cause === undefined ? undefined : { cause })
  for (const brand of ['UND_ERR', code, ...parents])
    Object.defineProperty(error, Symbol.for(`undici.error.${brand}`), { value: true })
  return Object.assign(error, { name, code })
}
