import { AsyncLocalStorage } from 'node:async_hooks'
import type { MetricsAPI } from '@opentelemetry/api'
import { createRequire, registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Tracer } from '../../mesh/tracing/tracer.ts'
import { currentScope, runInScope } from '../../mesh/scope.ts'
import type { WorkerInit } from '../../shared/control-messages.ts'
import { readCallerTraceBy } from '../../shared/traces/task-trace.ts'
import type { Outbox } from '../reporting/outbox.ts'
import { type EnterService, ServiceMeterProvider } from './meter-provider.ts'
import { type PromClient, PromRegisters } from './prom-registers.ts'
import { ServiceMetricsReporter } from './service-metrics.ts'
import { type OfferedApi, offerTracing } from './tracing/offer-tracing.ts'

/**
 * Runs a function in the context of no service. Otherwise the reporter would run in that of the
 * service that loads a library first.
 */
const inCleanContext = AsyncLocalStorage.snapshot()

/** Milliseconds that the last report may take. */
const finishLimit = 1000

/** What is used of a copy of `@opentelemetry/api`. */
interface OpenTelemetryApi extends OfferedApi {
  readonly metrics: MetricsAPI
}

/**
 * Finds the copies of `prom-client` and `@opentelemetry/api` that services load, and reports what
 * they record; `tracer` gets their spans. Call it before any service is loaded. Returns a function
 * that sends the last report.
 */
export function startTelemetry({ hosts }: WorkerInit, outbox: Outbox, tracer: Tracer | undefined): () => Promise<void> {
  const only = hosts.length === 1 ? hosts[0]!.name : undefined
  const ownerOf = (): string | undefined => currentScope()?.service ?? only
  const enter: EnterService = (service, run) => (service === undefined ? run() : runInScope({ service, hops: 0 }, run))
  const warn = (service: string | undefined, line: string): void =>
    outbox.log({ time: Date.now(), level: 'warn', service, stream: 'busbar', line })
  const parts = { ownerOf, enter, warn }
  if (tracer !== undefined) readCallerTraceBy(() => currentScope()?.trace)
  const registers = new PromRegisters(parts)
  const meters = new ServiceMeterProvider(parts)
  const reporter = new ServiceMetricsReporter(
    async () => (await Promise.all([registers.collect(), meters.collect()])).flat(),
    outbox,
  )
  watchLibraries({
    'prom-client': (library) => {
      registers.watch(library as PromClient)
      inCleanContext(() => reporter.start())
    },
    '@opentelemetry/api': (library) => {
      const api = library as OpenTelemetryApi
      offerMeters(api.metrics, meters)
      if (tracer !== undefined) offerTracing(api, tracer, ownerOf, (name) => globals()?.[name] !== undefined)
      inCleanContext(() => reporter.start())
    },
  })
  return () => reporter.finish(finishLimit)
}

/**
 * Makes `meters` the provider, until the service sets one: the API would refuse a second one. A
 * service that loads the API after it has set one (by a flag such as `--import`) keeps it.
 */
function offerMeters(metrics: MetricsAPI, meters: ServiceMeterProvider): void {
  const set = metrics.setGlobalMeterProvider.bind(metrics)
  if (globals()?.['metrics'] === undefined) set(meters)
  metrics.setGlobalMeterProvider = (provider) => {
    if (metrics.getMeterProvider() === meters) metrics.disable()
    return set(provider)
  }
}

/** Where all copies of the API in a thread find what one of them has set. */
function globals(): Readonly<Record<string, unknown>> | undefined {
  return (globalThis as Record<symbol, unknown>)[Symbol.for('opentelemetry.js.api.1')] as ReturnType<typeof globals>
}

/**
 * Calls `found` with each copy of a library that services of this thread load, before the code that
 * asks for it gets it. A service has its own copy, or shares one with others of its thread. A
 * library that a build has put into the service's own file has no name, so it is not found.
 */
function watchLibraries(found: Readonly<Record<string, (library: object) => void>>): void {
  const seen = new Set<string>()
  registerHooks({
    resolve(specifier, context, next) {
      const result = next(specifier, context)
      const use = Object.hasOwn(found, specifier) ? found[specifier] : undefined
      if (use === undefined || seen.has(result.url) || !result.url.startsWith('file:')) return result
      // Loading it resolves it again.
      seen.add(result.url)
      try {
        // The module that `import` and `require` of this URL return too.
        use(createRequire(result.url)(fileURLToPath(result.url)) as object)
      } catch {
        // It cannot be loaded: the service gets the same error. Or it is not what its name says.
      }
      return result
    },
  })
}
