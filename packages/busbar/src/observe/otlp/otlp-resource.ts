import type { Attributes } from '@opentelemetry/api'
import type { Resource, Time } from './otlp-types.ts'

/**
 * What the records are about. The package that creates such objects is only a dependency of the
 * exporters.
 */
export function resourceOf(attributes: Attributes): Resource {
  const resource: Resource = {
    attributes,
    merge: () => resource,
    getRawAttributes: () => Object.entries(attributes),
  }
  return resource
}

/**
 * Attributes for everything, of the standard variables `OTEL_RESOURCE_ATTRIBUTES` and
 * `OTEL_SERVICE_NAME`.
 */
export function environmentAttributes(env: NodeJS.ProcessEnv): Record<string, string> {
  const pairs = (env['OTEL_RESOURCE_ATTRIBUTES'] ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at <= 0 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const]
  })
  const attributes = Object.fromEntries(pairs)
  const name = env['OTEL_SERVICE_NAME']
  return name ? { ...attributes, 'service.name': name } : attributes
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Seconds and nanoseconds. */
export function toTime(milliseconds: number): Time {
  const seconds = Math.floor(milliseconds / 1000)
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)]
}

export const instrumentationScope = { name: 'busbar' }
