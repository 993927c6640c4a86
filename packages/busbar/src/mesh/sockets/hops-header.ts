import type { IncomingMessage } from 'node:http'
import { hopsHeader } from '../hops.ts'

/**
 * The number in a request that came through the mesh, which is taken out of it: a program sees, and passes on, just what its
 * caller wrote. The last one counts, since ours comes behind those of a caller that copies headers.
 */
export function takeHops(request: IncomingMessage): number | undefined {
  // Both are made of the raw headers when they are first read, which has to be before those change.
  const { headers, headersDistinct, rawHeaders } = request
  const last = headersDistinct[hopsHeader]?.at(-1)
  if (last === undefined) return undefined
  delete headers[hopsHeader]
  delete headersDistinct[hopsHeader]
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2)
    if (rawHeaders[at]!.toLowerCase() === hopsHeader) rawHeaders.splice(at, 2)
  return Number.parseInt(last, 10) || undefined
}
