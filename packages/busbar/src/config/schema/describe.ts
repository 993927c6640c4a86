import { inspect } from 'node:util'

/** A config path as users write it: `services.web.needs[0]`, with unusual keys in quotes. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = ''
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`
    else if (/^[\w$-]+$/.test(String(key))) text += text === '' ? String(key) : `.${String(key)}`
    else text += `[${JSON.stringify(String(key))}]`
  }
  return text === '' ? 'the config' : text
}

/** A value, short enough for a message. */
export function formatValue(value: unknown): string {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'string') return shorten(JSON.stringify(value))
  return typeof value === 'function' ? 'a function' : inspect(value)
}

/** For secrets: the type of a value, without the value. */
export function formatType(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text'
  return typeof value === 'number' || typeof value === 'bigint' ? 'a number' : formatValue(value)
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…"` : text
}
