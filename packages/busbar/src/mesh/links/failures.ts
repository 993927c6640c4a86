/** Why calls of a link fail, and why it takes none. */
import type { ErrorRecord } from '../../contract/errors.ts'
import type { LiveChannel } from './channel.ts'

/** The link's reason as that of one of its calls. */
export function inWords({ name, head }: LiveChannel, peer: string, { code, message, hint }: ErrorRecord): ErrorRecord {
  const words = { code, message: `${name}, which worker ${peer} was answering: ${message}`, service: head.service }
  return hint === undefined ? words : { ...words, hint }
}

export function lost(peer: string, what: string, service?: string): ErrorRecord {
  const record: ErrorRecord = { code: 'LINK_LOST', message: `worker ${peer} ${what}` }
  return service === undefined ? record : { ...record, service }
}

export function stopping(service: string): ErrorRecord {
  return { code: 'SERVICE_UNAVAILABLE', message: `service ${service} is stopping and takes no new calls`, service }
}

export function exhausted(peer: string, inFlight: number, service?: string): ErrorRecord {
  return {
    code: 'RESOURCE_EXHAUSTED',
    message: `the link to worker ${peer} has ${inFlight} calls in flight and takes no more`,
    data: { retryAfter: 1 },
    ...(service !== undefined && { service }),
  }
}
