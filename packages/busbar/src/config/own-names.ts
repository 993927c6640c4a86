import { nearest } from './nearest.ts'
import type { Problems } from './problems.ts'
import type { ParsedConfig } from './schema/app-schema.ts'

export interface OwnNames {
  readonly config: ParsedConfig
  /** The services of this app. */
  readonly services: readonly { readonly name: string }[]
}

/** True if the service belongs to another app. */
export function isRemote(config: ParsedConfig, name: string): boolean {
  const service = config.services?.[name]
  return typeof service === 'object' && service.remote !== undefined
}

/** What the list `key` offers to other apps must be services of this app. */
export function checkOwnNames(key: string, listed: readonly string[], own: OwnNames, problems: Problems): void {
  const names = own.services.map(({ name }) => name)
  for (const name of listed) {
    if (names.includes(name)) continue
    const near = nearest(name, names)
    const other = isRemote(own.config, name) ? ': another app runs it' : ''
    problems.add('CONFIG_INVALID', {
      message: `${key} names ${JSON.stringify(name)}, which is not a service of this app${other}${near === undefined ? '' : `; the nearest is ${near}`}`,
      hint: names.length === 0 ? 'This app has no service of its own.' : `The services are ${names.join(', ')}.`,
    })
  }
}
