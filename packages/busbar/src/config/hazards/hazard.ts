/** Warnings of `busbar check`. `docs/reference/errors.md` explains each. */
export const hazardCodes = [
  'ROUTE_HOST',
  'ROUTE_UNREACHABLE',
  'EXPORT_UNENCRYPTED',
  'CLUSTER_UNENCRYPTED',
  'ENTRY_NOT_MODULE',
  'COMMAND_NOT_FOUND',
  'FLAG_REFUSED',
  'COPY_MOVED',
  'METRICS_SHARED',
  'METRICS_PER_WORKER',
  'RELATIVE_PATH',
  'RELATIVE_LOG',
  'CLUSTER',
  'HTTP_PATCHED',
  'NOT_STRIPPABLE',
  'TYPE_IMPORT',
  'NATIVE_ADDON',
] as const

export type HazardCode = (typeof hazardCodes)[number]

/** Something that is likely to fail, or to behave other than expected. */
export interface Hazard {
  readonly code: HazardCode
  /** Names of the services concerned. */
  readonly services: readonly string[]
  readonly message: string
  readonly hint: string
}

/**
 * One hazard for all places where it was found, or none. A place is text such as
 * `src/server.ts:12`.
 */
export function hazardAt(
  code: HazardCode,
  service: string,
  places: readonly string[],
  { message, hint }: Pick<Hazard, 'message' | 'hint'>,
): Hazard[] {
  if (places.length === 0) return []
  const shown = places.slice(0, 3).join('; ') + (places.length > 3 ? ` and ${places.length - 3} more` : '')
  return [{ code, services: [service], message: `${service} ${message} (${shown})`, hint }]
}
