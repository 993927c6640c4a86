import type {
  Context,
  ContextManager,
  Span,
  SpanOptions,
  Tracer as OtelTracer,
  TracerOptions,
  TracerProvider,
} from '@opentelemetry/api'
import type { Tracer } from '../../../mesh/tracing/tracer.ts'
import { stateOf } from '../../../shared/traces/span.ts'
import { ServiceSpan } from './service-span.ts'
import { spanContextOf, traceOf, type TracingApi } from './span-context.ts'

export interface TracerSource {
  readonly api: TracingApi
  readonly tracer: Tracer
  /** The service whose code runs. */
  readonly ownerOf: () => string | undefined
  /** Busbar's own, also when the service has set another one. */
  readonly contexts: ContextManager
}

/** Makes the spans of services that have set up no SDK of their own. They join Busbar's traces. */
export class ServiceTracerProvider implements TracerProvider {
  readonly #source: TracerSource
  #next: TracerProvider | undefined

  constructor(source: TracerSource) {
    this.#source = source
  }

  /** From now on, `next` makes the spans, also of tracers that libraries have kept. */
  replace(next: TracerProvider): void {
    this.#next = next
  }

  getTracer(name: string, version?: string, options?: TracerOptions): OtelTracer {
    let replaced: OtelTracer | undefined
    return new ServiceTracer(this.#source, { name, version }, () => {
      if (this.#next === undefined) return undefined
      return (replaced ??= this.#next.getTracer(name, version, options))
    })
  }
}

interface Library {
  readonly name: string
  readonly version: string | undefined
}

class ServiceTracer implements OtelTracer {
  readonly #source: TracerSource
  readonly #library: Library
  readonly #replaced: () => OtelTracer | undefined

  constructor(source: TracerSource, library: Library, replaced: () => OtelTracer | undefined) {
    this.#source = source
    this.#library = library
    this.#replaced = replaced
  }

  startSpan(name: string, options: SpanOptions = {}, context: Context = this.#active()): Span {
    const replaced = this.#replaced()
    if (replaced !== undefined) return replaced.startSpan(name, options, context)
    const { api, tracer, ownerOf } = this.#source
    const from = options.root === true ? undefined : traceOf(api.trace.getSpan(context), api)
    const { trace, parent, isSampled } = tracer.begin(from)
    const service = ownerOf()
    const span = spanContextOf(trace, api)!
    if (!isSampled || service === undefined) return api.trace.wrapSpanContext(span)
    const own = new ServiceSpan({
      begun: {
        trace: span.traceId,
        id: span.spanId,
        parent,
        ...stateOf(trace.tracestate),
        service,
        kind: options.kind ?? 0,
        scope: this.#library.name,
        version: this.#library.version,
      },
      name,
      context: span,
      startTime: options.startTime,
      add: (record) => tracer.own(record),
    })
    if (options.attributes !== undefined) own.setAttributes(options.attributes)
    return options.links === undefined ? own : own.addLinks(options.links)
  }

  startActiveSpan<F extends (span: Span) => ReturnType<F>>(name: string, ...rest: unknown[]): ReturnType<F> {
    const run = rest.pop() as F
    const [options = {}, context = this.#active()] = rest as [SpanOptions?, Context?]
    const replaced = this.#replaced()
    if (replaced !== undefined) return replaced.startActiveSpan(name, options, context, run)
    const span = this.startSpan(name, options, context)
    const { api } = this.#source
    return api.context.with(api.trace.setSpan(context, span), () => run(span))
  }

  /** That of the service's own manager, if it has set one; without a span in it, with Busbar's. */
  #active(): Context {
    const { api, contexts } = this.#source
    const active = api.context.active()
    if (api.trace.getSpan(active) !== undefined) return active
    const span = api.trace.getSpan(contexts.active())
    return span === undefined ? active : api.trace.setSpan(active, span)
  }
}
