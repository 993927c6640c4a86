import type { IncomingMessage } from 'node:http'
import { hopsHeader } from '../hops.ts'

/**
 * The number in a request that came through the mesh, which is taken out of it: a program sees, and passes on, just what its
 * caller wrote. The last one counts, since ours comes behind those of a caller that copies headers.
 */
export function takeHops(request: IncomingMessage): number | undefined {
  const { rawHeaders } = request
  const last = rawHeaders.findLastIndex((name, at) => at % 2 === 0 && isHops(name))
  if (last < 0) return undefined
  const hops = Number.parseInt(rawHeaders[last + 1]!, 10) || undefined
  // Both are made of the list when they are first read, which has to be before that changes.
  delete request.headers[hopsHeader]
  delete request.headersDistinct[hopsHeader]
  for (let at = last; at >= 0; at -= 2) if (isHops(rawHeaders[at]!)) rawHeaders.splice(at, 2)
  return hops
}

function isHops(name: string): boolean {
  return name.length === hopsHeader.length && name.toLowerCase() === hopsHeader
}
