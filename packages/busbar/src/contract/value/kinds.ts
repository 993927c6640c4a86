/**
 * What a call carries, the same over every transport. `docs/reference/contract.md` has the table. Beyond JSON's own
 * values each has one tag: over JSON it is an object with that single key.
 */
export const tags = {
  undefined: '$undefined',
  number: '$number',
  bigint: '$bigint',
  date: '$date',
  bytes: '$bytes',
  map: '$map',
  set: '$set',
  /** An object that would itself look like a tag. */
  plain: '$plain',
} as const

/** Among the values of a stream, how it ended: see `http/events.ts`. */
export const endTag = '$end'
export const errorTag = '$error'

const own: ReadonlySet<string> = new Set([...Object.values(tags), endTag, errorTag])

export function isOwnTag(key: string): boolean {
  return own.has(key)
}

/** How deep values may be nested. Cycles are deeper than anything. */
export const maxDepth = 100

/** Integers from here on, and from its negative down, have too many digits: parsing them takes the square of their length. */
const tooLarge = 10n ** 10_000n

export function isTooLarge(integer: bigint): boolean {
  return integer >= tooLarge || integer <= -tooLarge
}

/** Thrown inside of this folder only; {@link Uncarriable} says where. */
export class Refusal extends Error {}

/** A value that no call carries. */
export class Uncarriable extends Error {
  readonly path: readonly (string | number)[]

  constructor(path: readonly (string | number)[], what: string) {
    super(what)
    this.path = path
  }
}

/**
 * Of this realm or another; null prototypes too, as rows of `node:sqlite` have. An object that inherits from another
 * one without a prototype is not plain: what it inherits would be lost.
 */
export function isPlain(value: object): value is Record<string, unknown> {
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype === null || prototype === Object.prototype) return true
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf')
}

/** An object with such a key would change the prototype of what it is merged into. */
export function pollutes(key: string, value: unknown): boolean {
  if (key === '__proto__') return true
  return key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

export function mayPollute(key: string): boolean {
  return key === '__proto__' || key === 'constructor'
}

/** `a function`, `an instance of Product`: for sentences. */
export function nameOf(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'symbol') return 'a symbol'
  if (value === null) return 'null'
  if (typeof value !== 'object') return `a ${typeof value}`
  const { name } = (value as { constructor?: { name?: unknown } }).constructor ?? {}
  return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an object with a prototype of its own'
}
