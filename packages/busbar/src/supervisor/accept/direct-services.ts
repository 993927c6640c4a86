import type { App, Service } from '../../config/app.ts'
import type { DirectOptions, DirectRoute, DirectTemplate } from '../../shared/entrance.ts'
import { readTemplate, type ServiceTemplates } from '../../shared/path-templates/known-templates.ts'
import { patternsOf } from '../../shared/path-templates/path-templates.ts'
import { isParameter, segmentsOf } from '../../shared/path-templates/template-tree.ts'

/** What the native entrance needs to reach services itself, without a worker between. */
export interface DirectPlan {
  readonly routes: readonly DirectRoute[]
  readonly services: readonly string[]
  readonly options: DirectOptions
}

export function planDirect(app: App): DirectPlan {
  const { routes, entry, openapi, probes } = app.gateway
  const { maxHeaderSize, maxBodySize, responseTimeout, keepAliveTimeout } = app.limits
  const reserved = [probes === true ? ['/healthz', '/readyz'] : [], openapi?.path ?? [], openapi?.page ?? []].flat()
  const all = [
    ...routes,
    ...(entry === undefined ? [] : [{ host: undefined, prefix: '', service: entry, strip: false }]),
  ]
  return {
    routes: all.map(({ host, prefix, service, strip }) => ({
      ...(host !== undefined && { host }),
      prefix,
      service,
      strip: strip !== false,
    })),
    services: hasPolicies(app) || app.traces !== undefined ? [] : app.services.filter(isDirect).map(({ name }) => name),
    options: { maxHead: maxHeaderSize, maxBody: maxBodySize, responseTimeout, keepAlive: keepAliveTimeout, reserved },
  }
}

/** What the gateway does with each request: the entrance would have to do the same. */
function hasPolicies({ gateway: { tls, balance } }: App): boolean {
  const { hsts, redirect, clientCa } = tls ?? {}
  return hsts !== undefined || redirect !== undefined || clientCa !== undefined || balance === 'connection'
}

/**
 * Programs and commands in processes of their own. The gateway in a worker has the policies: of
 * typed services, of those with a limit of calls, and of those whose clients stay with an instance.
 */
function isDirect({ kind, run, concurrency, sticky, double }: Service): boolean {
  const isFree = concurrency === undefined && sticky === undefined
  return kind !== 'typed' && run === 'process' && isFree && double !== true
}

/**
 * The path templates by which the native entrance counts direct requests. It has no regular
 * expressions: of a service with a segment that is partly a parameter, it has none.
 */
export function planTemplates(all: readonly ServiceTemplates[]): readonly DirectTemplate[] {
  const services = Map.groupBy(all, ({ service }) => service)
  return [...services].flatMap(([service, of]) => {
    const planned = of.flatMap(({ templates }) => templates).flatMap((text) => directTemplates(service, text))
    return planned.some(({ segments }) => segments.some((one) => one.includes(':') && one !== ':')) ? [] : planned
  })
}

function directTemplates(service: string, text: string): DirectTemplate[] {
  const { method, path } = readTemplate(text)!
  return patternsOf(path).map((pattern) => ({
    service,
    path,
    ...(method !== undefined && { method }),
    segments: segmentsOf(pattern).map((segment) => (isParameter(segment) ? ':' : segment)),
  }))
}
