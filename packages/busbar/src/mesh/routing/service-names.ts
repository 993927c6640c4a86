/** The names `<service>.internal`, and the error for names that no service has. */
import { errorMonitor, type EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { distance } from 'fastest-levenshtein'

const suffix = '.internal'

/**
 * `catalog` of `catalog.internal`: in any case, with or without the trailing dot of a fully
 * qualified name.
 */
export function serviceNameOf(hostname: string): string | undefined {
  const end = hostname.endsWith('.') ? hostname.length - 1 : hostname.length
  if (end <= suffix.length || hostname.charCodeAt(end - suffix.length) !== 46) return undefined
  const lower = hostname.slice(0, end).toLowerCase()
  return lower.endsWith(suffix) ? lower.slice(0, -suffix.length) : undefined
}

const notFound: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EAI_AGAIN'])
/** The error lists this many services at most. */
const maxListed = 10
/** How many letters of a name without a dot may differ from a service's name. */
const maxDistance = 2

/**
 * Makes the error of a failed lookup list the services. An `errorMonitor` listener does not count
 * as an error handler.
 */
export function watchLookup(names: readonly string[], host: string, socket: Socket): void {
  if (!resemblesService(names, host)) return
  const events: EventEmitter = socket
  const explain = (error: NodeJS.ErrnoException): void => explainLookup(names, host, error)
  events.once(errorMonitor, explain)
  events.once('connect', () => events.off(errorMonitor, explain))
}

/** True for `*.internal`, and for single labels that resemble a service's name. */
function resemblesService(names: readonly string[], host: string): boolean {
  const name = bareName(host)
  if (name.endsWith(suffix)) return true
  return !name.includes('.') && names.some((service) => distance(service, name) <= allowedDistance(service))
}

/** Adds the services, nearest name first, to the message of a failed lookup. Its code stays. */
function explainLookup(names: readonly string[], host: string, error: NodeJS.ErrnoException): void {
  if (error.syscall !== 'getaddrinfo' || !notFound.has(error.code) || names.length === 0) return
  const before = error.message
  error.message = `${before} (no service has this name; ${listServices(names, host)})`
  // V8 renders the stack, with the message, when the error is created.
  error.stack = error.stack?.replace(before, () => error.message)
}

function listServices(names: readonly string[], host: string): string {
  const name = bareName(host).replace(/\.internal$/, '')
  const sorted = names.toSorted((a, b) => distance(a, name) - distance(b, name))
  const rest = sorted.length > maxListed ? ` and ${sorted.length - maxListed} more` : ''
  return `there are ${sorted.slice(0, maxListed).map(urlOf).join(', ')}${rest}`
}

function urlOf(service: string): string {
  return `http://${service}.internal`
}

function bareName(host: string): string {
  return host.toLowerCase().replace(/\.$/, '')
}

/** `web` with one letter changed is another word. */
function allowedDistance(service: string): number {
  return Math.min(maxDistance, Math.floor(service.length / 3))
}
