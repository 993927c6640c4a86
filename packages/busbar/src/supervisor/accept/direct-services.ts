import type { App, Service } from '../../config/app.ts'
import type { DirectOptions, DirectRoute, DirectSegment, DirectTemplate } from '../../shared/entrance/entrance.ts'
import { readTemplate, type ServiceTemplates } from '../../shared/path-templates/known-templates.ts'
import type { Segment } from '../../shared/path-templates/template-pattern.ts'

/** What the native entrance needs to reach services itself, without a worker between. */
export interface DirectPlan {
  readonly routes: readonly DirectRoute[]
  readonly services: readonly string[]
  readonly options: DirectOptions
}

export function planDirect(app: App): DirectPlan {
  const { routes, entry, openapi, probes, cors: origins = [] } = app.gateway
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
    options: {
      maxHead: maxHeaderSize,
      maxBody: maxBodySize,
      responseTimeout,
      keepAlive: keepAliveTimeout,
      reserved,
      origins,
    },
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

/** The path templates by which the native entrance counts direct requests. */
export function planTemplates(all: readonly ServiceTemplates[]): readonly DirectTemplate[] {
  return all.flatMap(({ service, templates }) =>
    templates.flatMap((text) => {
      const { method, path, patterns } = readTemplate(text)!
      return patterns.map((pattern) => ({
        service,
        path,
        ...(method !== undefined && { method }),
        segments: pattern.map(directSegment),
      }))
    }),
  )
}

function directSegment(segment: Segment): DirectSegment {
  if (segment.is === 'text') return { is: 'text', texts: [segment.text] }
  return segment.is === 'pieces' ? segment : { is: segment.is, texts: [] }
}
