/** What `busbar check` warns of; `docs/reference/errors.md` explains each. */
export const hazardCodes = [
  'ROUTE_HOST',
  'ROUTE_UNREACHABLE',
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

/** Something that is likely to go wrong, or to mean something else than it looks like. */
export interface Hazard {
  readonly code: HazardCode
  /** Whose it is. */
  readonly services: readonly string[]
  readonly message: string
  readonly hint: string
}
