import type { PropagationAPI } from '@opentelemetry/api'
import type { Tracer } from '../../../mesh/tracing/tracer.ts'
import { ScopeContextManager, TracePropagator } from './context-manager.ts'
import type { TracingApi } from './span-context.ts'
import { ServiceTracerProvider } from './tracer-provider.ts'

/** What is used of a copy of `@opentelemetry/api`. */
export interface OfferedApi extends TracingApi {
  readonly propagation: PropagationAPI
}

/**
 * Makes Busbar's spans and contexts those of the API, until the service sets up its own: the API
 * would refuse a second one. `isSet`: true if a service has set one before it loaded this copy.
 */
export function offerTracing(
  api: OfferedApi,
  tracer: Tracer,
  ownerOf: () => string | undefined,
  isSet: (name: 'trace' | 'context' | 'propagation') => boolean,
): void {
  const manager = new ScopeContextManager(api)
  const provider = new ServiceTracerProvider({ api, tracer, ownerOf, contexts: manager })
  const { trace, context, propagation } = api
  const set = {
    trace: trace.setGlobalTracerProvider.bind(trace),
    context: context.setGlobalContextManager.bind(context),
    propagation: propagation.setGlobalPropagator.bind(propagation),
  }
  const offered = {
    trace: !isSet('trace') && set.trace(provider),
    context: !isSet('context') && set.context(manager),
    propagation: !isSet('propagation') && set.propagation(new TracePropagator(api)),
  }
  /** True the first time. */
  const withdraw = (name: keyof typeof offered): boolean => {
    const was = offered[name]
    offered[name] = false
    if (was) api[name].disable()
    return was
  }
  trace.setGlobalTracerProvider = (next) => {
    if (withdraw('trace')) provider.replace(next)
    return set.trace(next)
  }
  context.setGlobalContextManager = (next) => {
    withdraw('context')
    return set.context(next)
  }
  propagation.setGlobalPropagator = (next) => {
    withdraw('propagation')
    return set.propagation(next)
  }
}
