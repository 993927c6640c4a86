import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { OtlpSettings } from '../shared/app/telemetry-settings.ts'
import type { Problems } from './problems.ts'
import type { ParsedConfig } from './schema/app-schema.ts'

/** OpenTelemetry's own exporters, 20 MB with what they need. Only apps that export have them. */
const packages = {
  'http/protobuf': {
    metrics: '@opentelemetry/exporter-metrics-otlp-proto',
    traces: '@opentelemetry/exporter-trace-otlp-proto',
  },
  grpc: { metrics: '@opentelemetry/exporter-metrics-otlp-grpc', traces: '@opentelemetry/exporter-trace-otlp-grpc' },
} as const

export function resolveOtlp(root: string, { otlp }: ParsedConfig, problems: Problems): OtlpSettings | undefined {
  if (otlp === undefined) return undefined
  const { url, protocol, headers = {}, interval } = otlp
  const { metrics, traces } = packages[protocol]
  const binary = Object.keys(headers).find((name) => protocol === 'grpc' && name.toLowerCase().endsWith('-bin'))
  if (binary !== undefined)
    problems.add('CONFIG_INVALID', {
      message: `otlp.headers.${binary}: over gRPC, a field whose name ends with -bin has bytes, and otlp.headers has texts`,
    })
  return {
    url: url?.replace(/\/+$/, ''),
    protocol,
    headers,
    interval,
    metrics: otlp.metrics ? findPackage(root, metrics, problems) : undefined,
    traces: otlp.traces ? findPackage(root, traces, problems) : undefined,
  }
}

/** The app's own copy comes first: Busbar may be installed for all apps of a machine. */
function findPackage(root: string, name: string, problems: Problems): string | undefined {
  for (const from of [join(root, 'busbar.config.ts'), import.meta.filename]) {
    try {
      return createRequire(from).resolve(name)
    } catch {
      // The next place.
    }
  }
  problems.add('CONFIG_INVALID', {
    message: `the app has otlp, and ${name} is not installed: neither in ${root} nor beside Busbar`,
    hint: `Run npm install ${name} @opentelemetry/api.`,
  })
  return undefined
}
