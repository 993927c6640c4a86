/** Signals of polyfills and of other realms are not of this realm's class. */
export function isAbortSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null) return false
  const { aborted, addEventListener, removeEventListener } = value as Partial<AbortSignal>
  const methods = [addEventListener, removeEventListener]
  return typeof aborted === 'boolean' && methods.every((method) => typeof method === 'function')
}
