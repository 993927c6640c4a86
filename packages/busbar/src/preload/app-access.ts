import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { getEnvironmentData } from 'node:worker_threads'
import { serviceNameOf } from '../mesh/routing/service-names.ts'
import { addHopsHeaders, takeHopsHeader } from '../mesh/sockets/hops-header.ts'
import { type CallerAccess, callsVariable, hopsVariable } from '../shared/calls/call-access.ts'
import { type LocalPorts, noLocalPorts, serviceAtPort } from '../shared/calls/local-ports.ts'
import { environmentKey, type InheritedCallAccess } from '../shared/calls/inherit-call-access.ts'

/** How this process or thread reaches the app. */
export interface AppAccess extends CallerAccess {
  /** The number of calls that led to the start of this program. */
  readonly hops: number
  /** The variables as they were set, for threads and processes that this one starts. */
  readonly variables: Pick<InheritedCallAccess, 'access'>
  /** The service that `hostname` names; undefined if it is none of the app's. */
  serviceOf(hostname: string): string | undefined
  /** As `serviceOf`; also for an address of this machine that stands for a service. */
  serviceAt(hostname: string, port: number): string | undefined
}

/** Returns undefined if the environment names no app. */
export function readAppAccess(): AppAccess | undefined {
  const inherited = getEnvironmentData(environmentKey) as InheritedCallAccess | undefined
  const text = process.env[callsVariable] ?? inherited?.access
  const access = text === undefined ? undefined : parse(text)
  if (text === undefined || access === undefined) return undefined
  const hops = inherited?.access === text ? inherited.hops : Number(process.env[hopsVariable]) || 0
  const names = new Set(access.names)
  const serviceOf = (hostname: string): string | undefined => {
    const name = serviceNameOf(hostname)
    return name !== undefined && names.has(name) ? name : undefined
  }
  const { localPorts = noLocalPorts } = access
  return {
    ...access,
    hops,
    variables: { access: text },
    serviceOf,
    serviceAt: (hostname, port) => serviceOf(hostname) ?? serviceAtPort(localPorts, hostname, port),
  }
}

/** The number of calls that led to the code that runs now. */
export interface HopCounter {
  current(): number
}

/**
 * Sends the number of calls in every request to a service, and removes it from requests that
 * arrive: a program sees, and passes on, only what its caller wrote.
 */
export function createHopCounter(access: AppAccess): HopCounter {
  const storage = new AsyncLocalStorage<number>()
  const hops: HopCounter = { current: () => storage.getStore() ?? access.hops }
  subscribe('http.server.request.start', (message) => {
    const { request } = message as { request: IncomingMessage }
    storage.enterWith(takeHopsHeader(request)?.hops ?? access.hops)
  })
  addHopsHeaders(access, () => hops.current() + 1)
  return hops
}

/** Users may set the variable to anything. An empty one keeps a program apart from the app. */
function parse(text: string): CallerAccess | undefined {
  try {
    const { port, token, caller, names, localPorts } = JSON.parse(text) as Partial<Record<keyof CallerAccess, unknown>>
    if (typeof port !== 'number' || typeof token !== 'string' || typeof caller !== 'string') return undefined
    if (!Array.isArray(names)) return undefined
    const known = typeof localPorts === 'object' && localPorts !== null ? { localPorts: localPorts as LocalPorts } : {}
    return { port, token, caller, names: names.map(String), ...known }
  } catch {
    return undefined
  }
}
