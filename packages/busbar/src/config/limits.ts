import type { Problems } from './problems.ts'
import type { ParsedConfig } from './schema/schema.ts'

/** What one limit says of another: an option of a service never widens that of the app. */
export function checkLimits({ limits, stopTimeout, defaults, services = {} }: ParsedConfig, problems: Problems): void {
  const { headerTimeout, requestTimeout } = limits
  // Node refuses to make a server with such a pair.
  if (requestTimeout > 0 && headerTimeout > requestTimeout)
    problems.add('CONFIG_INVALID', {
      message: `limits.headerTimeout (${headerTimeout} ms) is longer than limits.requestTimeout (${requestTimeout} ms), which includes it`,
      hint: 'Make headerTimeout the shorter one.',
    })
  const own = Object.entries(services).map(([name, service]) => ({
    key: `services.${name}.stopTimeout`,
    value: typeof service === 'string' ? undefined : service.stopTimeout,
  }))
  for (const { key, value } of [{ key: 'defaults.stopTimeout', value: defaults.stopTimeout }, ...own])
    if (value !== undefined && value > stopTimeout)
      problems.add('CONFIG_INVALID', {
        message: `${key} (${value} ms) is longer than the app's stopTimeout (${stopTimeout} ms), which includes it`,
        hint: `Shorten it, or write stopTimeout: ${value} for the app.`,
      })
}
