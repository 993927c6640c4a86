import { getEnvironmentData } from 'node:worker_threads'
import { serviceNameIn } from '../mesh/service-name.ts'
import { type CallerAccess, callsVariable, hopsVariable } from '../shared/call-access.ts'
import { environmentKey, type InheritedCalls } from '../shared/inherited-calls.ts'

/** The app, as this process or thread knows it. */
export interface Access extends CallerAccess {
  /** How many calls led to the start of this program. */
  readonly hops: number
  /** As they were given, to be passed on. */
  readonly variables: Pick<InheritedCalls, 'access'>
  /** The service that `hostname` names, if it is one of the app's. */
  serviceOf(hostname: string): string | undefined
}

/** Undefined where there is no app. */
export function readAccess(): Access | undefined {
  const told = getEnvironmentData(environmentKey) as InheritedCalls | undefined
  const text = process.env[callsVariable] ?? told?.access
  const access = text === undefined ? undefined : parse(text)
  if (text === undefined || access === undefined) return undefined
  const hops = told?.access === text ? told.hops : Number(process.env[hopsVariable]) || 0
  const names = new Set(access.names)
  return {
    ...access,
    hops,
    variables: { access: text },
    serviceOf(hostname) {
      const name = serviceNameIn(hostname)
      return name !== undefined && names.has(name) ? name : undefined
    },
  }
}

/** Anybody can set the variable, to nothing for a program that is to have no part in the app. */
function parse(text: string): CallerAccess | undefined {
  try {
    const { port, token, caller, names } = JSON.parse(text) as Partial<Record<keyof CallerAccess, unknown>>
    if (typeof port !== 'number' || typeof token !== 'string' || typeof caller !== 'string') return undefined
    return Array.isArray(names) ? { port, token, caller, names: names.map(String) } : undefined
  } catch {
    return undefined
  }
}
