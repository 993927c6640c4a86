/** Says, when a name was not found, which names there are. */
import { errorMonitor, type EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { distance } from 'fastest-levenshtein'

const notFound: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EAI_AGAIN'])
const named = 10
/** How many letters a name without a dot may be off and still have meant a service. */
const near = 2

/**
 * Lets the error of a lookup that fails name the services. `errorMonitor` hears an error without counting as someone who
 * handles it.
 */
export function watchLookup(names: readonly string[], host: string, socket: Socket): void {
  if (!mayMeanService(names, host)) return
  const events: EventEmitter = socket
  const explain = (error: NodeJS.ErrnoException): void => explainLookup(names, host, error)
  events.once(errorMonitor, explain)
  events.once('connect', () => events.off(errorMonitor, explain))
}

/** True for names worth explaining: `*.internal`, and single labels such as `catalog` that resemble a service. */
export function mayMeanService(names: readonly string[], host: string): boolean {
  const name = bareName(host)
  if (name.endsWith('.internal')) return true
  return !name.includes('.') && names.some((service) => distance(service, name) <= allowance(service))
}

/** Adds the services there are, the nearest first, to the message of a failed lookup. Its code stays. */
export function explainLookup(names: readonly string[], host: string, error: NodeJS.ErrnoException): void {
  if (error.syscall !== 'getaddrinfo' || !notFound.has(error.code) || names.length === 0) return
  const before = error.message
  error.message = `${before} (no service is called by this name; ${listServices(names, host)})`
  // V8 renders the stack when the error is made, message included.
  error.stack = error.stack?.replace(before, () => error.message)
}

function listServices(names: readonly string[], host: string): string {
  const name = bareName(host).replace(/\.internal$/, '')
  const sorted = names.toSorted((a, b) => distance(a, name) - distance(b, name))
  const rest = sorted.length > named ? ` and ${sorted.length - named} more` : ''
  return `there are ${sorted.slice(0, named).map(urlOf).join(', ')}${rest}`
}

function urlOf(service: string): string {
  return `http://${service}.internal`
}

function bareName(host: string): string {
  return host.toLowerCase().replace(/\.$/, '')
}

/** One letter off in `web` is another word. */
function allowance(service: string): number {
  return Math.min(near, Math.floor(service.length / 3))
}
