import type { Attributes } from '@opentelemetry/api'
import { isFailedSpan } from '../../shared/traces/span.ts'
import type { StoredOwnSpan, StoredSpan } from '../traces/trace-store.ts'
import { instrumentationScope, resourceOf, toTime } from './otlp-resource.ts'
import type { ExportedSpan, Resource } from './otlp-types.ts'

/** Numbers of OpenTelemetry's `SpanKind` and `SpanStatusCode`. */
const kinds = { server: 1, client: 2 }
const unset = 0
/** Of `TraceFlags`. */
const sampled = 1
const error = 2

/** `pid`: of the process that has made it, if that is known. */
export type SentSpan = (StoredSpan | StoredOwnSpan) & { readonly pid: number | undefined }
type Maker = Pick<SentSpan, 'worker' | 'pid'>

/**
 * Converts spans. Those of one service and worker share a resource, by which exporters group them.
 */
export class OtlpSpans {
  readonly #app: string
  readonly #common: Attributes
  readonly #resources = new Map<string, Resource>()

  /** `common`: attributes of every resource. */
  constructor(app: string, common: Attributes) {
    this.#app = app
    this.#common = common
  }

  convert(span: SentSpan): ExportedSpan {
    return 'part' in span ? this.#call(span) : this.#own(span)
  }

  #own(span: StoredOwnSpan & Maker): ExportedSpan {
    const { start, duration, name, kind, status, message, scope, version, dropped } = span
    return {
      name,
      kind,
      ...identityOf(span),
      startTime: toTime(start),
      endTime: toTime(start + duration),
      duration: toTime(duration),
      status: { code: status, ...(message !== undefined && { message }) },
      attributes: span.attributes,
      links: span.links.map((link) => ({
        context: { traceId: link.trace, spanId: link.id, traceFlags: sampled },
        attributes: link.attributes as Attributes,
      })),
      events: span.events.map((event) => ({
        name: event.name,
        time: toTime(event.time),
        attributes: event.attributes as Attributes,
      })),
      ended: true,
      resource: this.#resourceOf(span.service, span),
      instrumentationScope: { name: scope, ...(version !== undefined && { version }) },
      droppedAttributesCount: dropped.attributes,
      droppedEventsCount: dropped.events,
      droppedLinksCount: dropped.links,
    }
  }

  #call(span: StoredSpan & Maker): ExportedSpan {
    const { start, duration } = span
    // A call within one thread has one span, which the answering service shows.
    const isServer = span.part === 'answer' || span.caller === undefined || span.transport === 'local'
    // The service in another worker has a span of its own.
    const isGateway = isServer && span.part === 'call' && span.transport !== 'local'
    const failed = isFailedSpan(span)
    return {
      name: nameOf(span, isServer),
      kind: isServer ? kinds.server : kinds.client,
      ...identityOf(span),
      startTime: toTime(start),
      endTime: toTime(start + duration),
      duration: toTime(duration),
      status: { code: failed ? error : unset },
      attributes: attributesOf(span, failed),
      links: [],
      events: [],
      ended: true,
      resource: this.#resourceOf(isGateway ? this.#app : isServer ? span.service : span.caller, span),
      instrumentationScope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    }
  }

  #resourceOf(service: string, { worker, pid }: Maker): Resource {
    const key = `${worker} ${pid} ${service}`
    let resource = this.#resources.get(key)
    if (resource !== undefined) return resource
    resource = resourceOf({
      'service.namespace': this.#app,
      'service.instance.id': `${service} ${worker}`,
      ...(pid !== undefined && { 'process.pid': pid }),
      ...this.#common,
      'service.name': service,
    })
    // Services of other apps and workers of earlier generations would remain for ever.
    if (this.#resources.size >= 1000) this.#resources.clear()
    this.#resources.set(key, resource)
    return resource
  }
}

function identityOf({
  trace: traceId,
  id: spanId,
  parent,
  tracestate,
}: SentSpan): Pick<ExportedSpan, 'spanContext' | 'parentSpanContext'> {
  const traceState = tracestate === undefined ? undefined : { serialize: () => tracestate }
  return {
    spanContext: () => ({ traceId, spanId, traceFlags: sampled, ...(traceState !== undefined && { traceState }) }),
    ...(parent !== undefined && { parentSpanContext: { traceId, spanId: parent, traceFlags: sampled } }),
  }
}

/** By OpenTelemetry's semantic conventions. Only who answers a request names its route. */
function nameOf({ protocol, service, method, route }: StoredSpan, isServer: boolean): string {
  if (protocol === 'rpc') return `${service}/${method}`
  return isServer && route !== undefined ? `${method} ${route}` : method
}

/** By the same. */
function attributesOf(span: StoredSpan, failed: boolean): Attributes {
  const { protocol, method, path, route, service, caller, transport, status, sent, received, queue, retries } = span
  const isHttp = protocol === 'http'
  return {
    ...(isHttp
      ? {
          'http.request.method': method,
          ...(route !== undefined && { 'http.route': route }),
          ...(path !== undefined && { 'url.path': path }),
          ...(status !== 0 && { 'http.response.status_code': status }),
          'http.request.body.size': sent,
          'http.response.body.size': received,
        }
      : { 'rpc.system.name': 'busbar', 'rpc.method': `${service}/${method}`, 'rpc.response.status_code': `${status}` }),
    'server.address': service,
    ...(caller !== undefined && { 'busbar.caller': caller }),
    ...(transport !== undefined && { 'busbar.transport': transport }),
    'busbar.queue.duration': queue / 1000,
    ...(retries > 0 && { [isHttp ? 'http.request.resend_count' : 'busbar.rpc.resend_count']: retries }),
    ...(failed && { 'error.type': status === 0 ? '_OTHER' : `${status}` }),
  }
}
