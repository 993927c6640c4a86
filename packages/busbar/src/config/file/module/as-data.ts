import { BusbarError } from '../../../contract/errors.ts'
import { formatPath } from '../../schema/describe.ts'

/**
 * Copies what a config has made, so that it can be sent to another thread. What would lose its type
 * there becomes a Map, which no copy has otherwise: {@link fromData} makes it what it was for the
 * check of the config. Throws CONFIG_INVALID if a part contains itself.
 */
export function toData(
  value: unknown,
  path: readonly (string | number)[] = [],
  above: readonly object[] = [],
): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return new Map([['is', typeof value]])
  if (typeof value !== 'object' || value === null) return value
  if (above.includes(value)) throw new BusbarError('CONFIG_INVALID', { message: `${formatPath(path)} contains itself` })
  const inside = [...above, value]
  if (Array.isArray(value)) return value.map((part, index) => toData(part, [...path, index], inside))
  return Object.fromEntries(keysOf(value).map((key) => [key, toData(Reflect.get(value, key), [...path, key], inside)]))
}

export function fromData(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(fromData)
  if (data instanceof Map) return data.get('is') === 'function' ? () => {} : Symbol('config')
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([key, part]) => [key, fromData(part)]))
}

/** Also those that an object inherits, and the getters of its class. */
function keysOf(value: object): string[] {
  const keys = new Set<string>()
  for (const key in value) keys.add(key)
  for (let of = prototypeOf(value); of !== null && prototypeOf(of) !== null; of = prototypeOf(of))
    for (const [key, own] of Object.entries(Object.getOwnPropertyDescriptors(of)))
      if (own.get !== undefined) keys.add(key)
  return [...keys]
}

function prototypeOf(value: object): object | null {
  return Object.getPrototypeOf(value) as object | null
}
