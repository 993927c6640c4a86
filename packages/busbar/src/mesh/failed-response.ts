import type { ServerResponse } from 'node:http'

/**
 * Whether a response that has closed counts as a failed call. One that never began does, whoever gave up. One that began and is
 * not whole does unless the caller went away, which shows in its connection.
 */
export function isFailed({
  statusCode,
  headersSent,
  writableFinished,
  req,
}: Pick<ServerResponse, 'statusCode' | 'headersSent' | 'writableFinished' | 'req'>): boolean {
  if (!headersSent || statusCode >= 500) return true
  if (writableFinished) return false
  return !req.socket.readableEnded && req.socket.errored === null
}
