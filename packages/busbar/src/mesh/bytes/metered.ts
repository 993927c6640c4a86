import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { LocalEndpoint } from '../endpoint.ts'
import { isFailed } from '../failed-response.ts'
import { MeasuredCall, type Meter } from '../meter.ts'
import { interceptRequests } from './accept.ts'

/** Counts the request that the server has just been given on this connection. An upgrade has no response, and no end. */
export function countRequest({ count }: LocalEndpoint, socket: Socket): ServerResponse | undefined {
  const response = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage
  if (count === undefined || !response) return undefined
  count.began()
  response.once('close', () => count.left(isFailed(response)))
  return response
}

/** Counts and measures every request on a connection that came from outside, with nothing of ours in between. */
export function meterRequests(endpoint: LocalEndpoint, socket: Socket, meter: Meter | undefined): void {
  if (meter === undefined) return
  interceptRequests(socket, (_request, next) => {
    const weight = meter.next()
    const measured = weight > 0 ? new MeasuredCall(meter, undefined, endpoint.service, weight) : undefined
    const result = next()
    const response = countRequest(endpoint, socket)
    if (measured !== undefined) response?.once('close', measured.end)
    return result
  })
}
