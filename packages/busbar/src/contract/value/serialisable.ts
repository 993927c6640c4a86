/**
 * The values that calls carry, the same over every transport; `docs/reference/contract.md` has the
 * table. Values that JSON cannot express are written as a tag: an object with a single key.
 */
export const tags = {
  undefined: '$undefined',
  number: '$number',
  bigint: '$bigint',
  date: '$date',
  bytes: '$bytes',
  map: '$map',
  set: '$set',
  /** Escapes an object that itself looks like a tag. */
  plain: '$plain',
} as const

/** How a stream ended, as its last entry: see `http/stream-format.ts`. */
export const endTag = '$end'
export const errorTag = '$error'

const own: ReadonlySet<string> = new Set([...Object.values(tags), endTag, errorTag])

export function isOwnTag(key: string): boolean {
  return own.has(key)
}

/** The maximum nesting depth. Cycles exceed any limit. */
export const maxDepth = 100

/** Larger integers have too many digits: parsing takes quadratic time. */
const tooLarge = 10n ** 10_000n

export function isTooLarge(integer: bigint): boolean {
  return integer >= tooLarge || integer <= -tooLarge
}

/** An internal signal within this folder; {@link SerialisationError} then locates the value. */
export class Unserialisable extends Error {}

/** A value that cannot be serialised, and its path. */
export class SerialisationError extends Error {
  readonly path: readonly (string | number)[]

  constructor(path: readonly (string | number)[], what: string) {
    super(what)
    this.path = path
  }
}

/**
 * Accepts objects of any realm, and those without a prototype, such as the rows of `node:sqlite`.
 * An object that inherits from another object is not plain: inherited fields would be lost.
 */
export function isPlainObject(value: object): value is Record<string, unknown> {
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype === null || prototype === Object.prototype) return true
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf')
}

/** A key that would change the prototype of an object it is merged into. */
export function pollutes(key: string, value: unknown): boolean {
  if (key === '__proto__') return true
  return key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

export function mayPollute(key: string): boolean {
  return key === '__proto__' || key === 'constructor'
}

/** `a function`, `an instance of Product`: for error messages. */
export function describeValue(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'symbol') return 'a symbol'
  if (value === null) return 'null'
  if (typeof value !== 'object') return `a ${typeof value}`
  const { name } = (value as { constructor?: { name?: unknown } }).constructor ?? {}
  return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an object with a prototype of its own'
}
