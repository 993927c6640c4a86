import type { App } from './app.ts'

/** Something that `busbar check` knows to go wrong where services share a thread. */
export interface Hazard {
  readonly code: HazardCode
  readonly services: readonly string[]
  readonly message: string
  readonly hint: string
}

export const hazardCodes = ['METRICS_SHARED'] as const
export type HazardCode = (typeof hazardCodes)[number]

export async function findHazards(_app: App): Promise<Hazard[]> {
  return []
}
