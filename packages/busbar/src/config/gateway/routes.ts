import { isIP } from 'node:net'
import { BusbarError } from '../../contract/errors.ts'
import type { Route } from '../app.ts'

/**
 * Parses a route. Its key is `/prefix`, `host.example` or `host.example/prefix`. Throws
 * CONFIG_INVALID.
 */
export function parseRoute(
  key: string,
  { service, ...options }: Pick<Route, 'service' | 'strip' | 'clientCertificate'>,
): Route {
  const slash = key.indexOf('/')
  const host = (slash < 0 ? key : key.slice(0, slash)).toLowerCase()
  const prefix = slash < 0 ? '' : key.slice(slash).replace(/\/+$/, '')
  const problem = hostProblem(host, slash) ?? prefixProblem(prefix)
  if (problem !== undefined)
    throw new BusbarError('CONFIG_INVALID', {
      message: `gateway.routes has ${JSON.stringify(key)}, which is not a route: ${problem}`,
      hint: "Write '/prefix', 'host.example' or 'host.example/prefix'.",
    })
  return { host: host === '' ? undefined : host, prefix, service, ...options }
}

/** Equal for two routes that match the same requests. */
export function routeId({ host, prefix }: Route): string {
  return `${host ?? ''}${prefix}`
}

function hostProblem(host: string, slash: number): string | undefined {
  if (host === '') return slash < 0 ? 'it is empty' : undefined
  if (/^https?:$/.test(host)) return 'a route has no scheme'
  if (host.includes('*')) return 'wildcards are not supported; `entry` gets all other requests'
  if (/:\d+$/.test(host) && isIP(host) === 0) return 'a route has no port'
  const labels = host.split('.')
  const isName = labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/.test(label))
  return isName || isIP(host.replace(/^\[|\]$/g, '')) !== 0 ? undefined : `${JSON.stringify(host)} is not a host`
}

function prefixProblem(prefix: string): string | undefined {
  if (prefix.includes('*')) return `a prefix matches all paths below it, so leave out the *`
  if (/[?#]/.test(prefix)) return 'a prefix is a path, without ? and #'
  if (/[\s\\]/.test(prefix)) return 'a prefix has no spaces and no backslashes'
  const segments = prefix.split('/').slice(1)
  return segments.some((part) => part === '' || part === '.' || part === '..')
    ? 'it has an empty or a dot segment'
    : undefined
}
