import { inspect } from 'node:util'

/** A way into the config as people write it: `services.web.needs[0]`; keys that are no words in quotes. */
export function showPath(path: readonly PropertyKey[]): string {
  let shown = ''
  for (const key of path) {
    if (typeof key === 'number') shown += `[${key}]`
    else if (/^[\w$-]+$/.test(String(key))) shown += shown === '' ? String(key) : `.${String(key)}`
    else shown += `[${JSON.stringify(String(key))}]`
  }
  return shown === '' ? 'the config' : shown
}

/** A value as it was found, short enough for a message. */
export function showValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'string') return shorten(JSON.stringify(value))
  return typeof value === 'function' ? 'a function' : inspect(value)
}

/** What a secret is, without saying it. */
export function showKind(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text'
  return typeof value === 'number' || typeof value === 'bigint' ? 'a number' : showValue(value)
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…"` : text
}
