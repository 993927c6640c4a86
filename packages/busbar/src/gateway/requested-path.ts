import type { IncomingMessage } from 'node:http'

/** On the request itself: services and frameworks change its `url`. */
const requested = Symbol('requested path')
type KeepingRequest = IncomingMessage & { [requested]?: string }

/** To be called before anything changes the request's `url`. */
export function keepRequestedPath(req: KeepingRequest): void {
  req[requested] = req.url!
}

/** The path that the client asked for. */
export function requestedPath(req: KeepingRequest): string {
  return req[requested] ?? req.url!
}
