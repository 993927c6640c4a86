/**
 * How many entries of its `rawHeaders` a request has counted when it arrived. `headersDistinct` is
 * derived from as many, on first access.
 */
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { symbolNamed } from './response.ts'

const countSymbol = symbolNamed(new IncomingMessage(new Socket()), 'kHeadersCount')

/** To be called when `rawHeaders` has changed. */
export function recountHeaders(request: IncomingMessage): void {
  // `Reflect.set` takes ten times as long.
  ;(request as unknown as Record<symbol, number>)[countSymbol!] = request.rawHeaders.length
}

/** Undefined if a request then derives `headersDistinct` from all of them. */
export function requestHeadersFault(): string | undefined {
  const request = new IncomingMessage(new Socket())
  request.rawHeaders.push('X-A', '1')
  if (countSymbol !== undefined) recountHeaders(request)
  return request.headersDistinct['x-a']?.join() === '1' ? undefined : 'a request does not recount its headers'
}
