/** Says, when a name was not found, which names there are. */
import { distance } from 'fastest-levenshtein'
import type { Router } from '../router.ts'

const notFound: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EAI_AGAIN'])
const named = 10
/** How many letters a name without a dot may be off and still have meant a service. */
const near = 2

/** True for names worth explaining: `*.internal`, and single labels such as `catalog` that resemble a service. */
export function mayMeanService(router: Router, host: string): boolean {
  const name = bareName(host)
  if (name.endsWith('.internal')) return true
  return !name.includes('.') && router.names.some((service) => distance(service, name) <= allowance(service))
}

/** Adds the services there are, the nearest first, to the message of a failed lookup. Its code stays. */
export function explainLookup(router: Router, host: string, error: NodeJS.ErrnoException): void {
  if (error.syscall !== 'getaddrinfo' || !notFound.has(error.code) || router.names.length === 0) return
  const before = error.message
  error.message = `${before} (no service is called by this name; ${listServices(router, host)})`
  // V8 renders the stack when the error is made, message included.
  error.stack = error.stack?.replace(before, () => error.message)
}

function listServices(router: Router, host: string): string {
  const name = bareName(host).replace(/\.internal$/, '')
  const sorted = router.names.toSorted((a, b) => distance(a, name) - distance(b, name))
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
