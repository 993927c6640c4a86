const suffix = '.internal'

/** `catalog` of `catalog.internal`, in any case, with or without the dot of a fully qualified name. */
export function serviceNameIn(hostname: string): string | undefined {
  const end = hostname.endsWith('.') ? hostname.length - 1 : hostname.length
  if (end <= suffix.length || hostname.charCodeAt(end - suffix.length) !== 46) return undefined
  const lower = hostname.slice(0, end).toLowerCase()
  return lower.endsWith(suffix) ? lower.slice(0, -suffix.length) : undefined
}
