import type { ServerResponse } from 'node:http'

/**
 * Of a response that has closed: whether the fault is the service's. One that is not whole is, unless it was the caller
 * who went away, which shows in its connection.
 */
export function isFailed({
  statusCode,
  writableFinished,
  req,
}: Pick<ServerResponse, 'statusCode' | 'writableFinished' | 'req'>): boolean {
  if (writableFinished) return statusCode >= 500
  return !req.socket.readableEnded && req.socket.errored === null
}
