import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { LocalEndpoint } from '../endpoint.ts'
import { isFailed } from '../failed-response.ts'

/**
 * Counts the request that `next` gives to the server, from before the program sees it: one that blocks its thread is in
 * flight. An upgrade has no response, and is over when it was accepted.
 */
export function countRequest({ count }: LocalEndpoint, socket: Socket, next: () => number): number {
  if (count === undefined) return next()
  count.began()
  const result = next()
  const response = responseOn(socket)
  if (response === undefined) count.left(false)
  else response.once('close', () => count.left(isFailed(response)))
  return result
}

/** To the request that the server was given last on this connection. */
export function responseOn(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined
}
