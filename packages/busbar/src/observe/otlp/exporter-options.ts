import { createRequire } from 'node:module'
import type { OtlpSettings } from '../../shared/app/telemetry-settings.ts'

/**
 * The exporter takes what is absent here from the standard variables, such as
 * `OTEL_EXPORTER_OTLP_HEADERS`.
 */
export interface ExporterOptions {
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Of gRPC: its headers. */
  readonly metadata?: Metadata
}

/** As far as it is used of `Metadata` of `@grpc/grpc-js`. */
interface Metadata {
  set(name: string, value: string): void
}

/** `file`: of the exporter. */
export function exporterOptions(
  { url, protocol, headers }: OtlpSettings,
  signal: 'metrics' | 'traces',
  file: string,
): ExporterOptions {
  const given = Object.entries(headers)
  if (protocol === 'grpc')
    return { ...(url !== undefined && { url }), ...(given.length > 0 && { metadata: metadataOf(given, file) }) }
  return {
    ...(url !== undefined && { url: `${url}/v1/${signal}` }),
    ...(given.length > 0 && { headers }),
  }
}

/** Of the copy of gRPC that the exporter uses. */
function metadataOf(headers: readonly (readonly [string, string])[], file: string): Metadata {
  const base = createRequire(file).resolve('@opentelemetry/otlp-grpc-exporter-base')
  const grpc = createRequire(base)('@grpc/grpc-js') as { readonly Metadata: new () => Metadata }
  const metadata = new grpc.Metadata()
  for (const [name, value] of headers) metadata.set(name, value)
  return metadata
}
