import { hasToJson } from '../../../contract/value/encode.ts'
import { type ObjectShape, type Shape, shapeOf } from './value-shape.ts'

/** A value without its shape. Its leaves are primitive, so nobody changes them. */
export interface FlatValue {
  readonly shape: ObjectShape
  readonly leaves: readonly unknown[]
  /** About as many characters as its JSON has. */
  readonly size: number
}

/** Values in a run from which on leaving out the shape pays. */
const minRun = 4
/** Larger values are encoded one by one: a leaf more costs what its JSON costs. */
const maxValueLeaves = 64
const maxSize = 4096
/** Values that are not looked at after most have had another shape than the one before. */
const pause = 1000
const credit = { first: 8, most: 32, perMiss: 4 } as const

/** Finds the shape that the values of one method have, if they are sent in runs. */
export class Shaper {
  #shape: ObjectShape | undefined
  #lastRun = 0
  #credit: number = credit.first
  #pause = 0

  /** So many values were sent in a row. */
  ran(count: number): void {
    this.#lastRun = count
  }

  /** Undefined: the value is encoded as a whole. */
  flatten(value: unknown): FlatValue | undefined {
    if (this.#lastRun < minRun || typeof value !== 'object' || value === null) return undefined
    if (this.#pause > 0) return void this.#pause--
    try {
      const flat = this.#shape && flatten(value, this.#shape)
      if (flat === undefined) this.#missed(value)
      else if (this.#credit < credit.most) this.#credit++
      return flat
    } catch {
      // A getter throws. The other encoding finds where.
      return undefined
    }
  }

  #missed(value: object): void {
    this.#shape = shapeOf(value)
    this.#credit -= credit.perMiss
    if (this.#credit > 0 && this.#shape !== undefined) return
    this.#credit = credit.first
    this.#pause = pause
  }
}

function flatten(value: object, shape: ObjectShape): FlatValue | undefined {
  const leaves: unknown[] = []
  const size = addFields(value, shape, leaves)
  return size < 0 || size > maxSize ? undefined : { shape, leaves, size }
}

/** About the characters of the JSON, or {@link other} if it has another shape. */
function add(value: unknown, shape: Shape, leaves: unknown[]): number {
  if (shape === undefined) return addLeaf(value, leaves)
  if (typeof value !== 'object' || value === null) return other
  if (shape.keys !== undefined) return addFields(value, shape, leaves)
  if (!Array.isArray(value) || hasToJson(value) || value.length + leaves.length >= maxValueLeaves) return other
  if (shape.isEmpty && value.length > 0) return other
  leaves.push(value.length)
  let size = 4
  for (let at = 0; at < value.length; at++) {
    const added = add(value[at], shape.each, leaves)
    if (added < 0) return other
    size += added
  }
  return size
}

const other = -1

function addLeaf(value: unknown, leaves: unknown[]): number {
  if (leaves.length >= maxValueLeaves) return other
  if (typeof value === 'string') {
    leaves.push(value)
    return value.length + 3
  }
  if (typeof value === 'number' ? !isJsonNumber(value) : typeof value !== 'boolean' && value !== null) return other
  leaves.push(value)
  return 8
}

function isJsonNumber(value: number): boolean {
  return value === 0 ? !Object.is(value, -0) : Number.isFinite(value)
}

/** Its keys are those of the shape, in their order. */
function addFields(value: object, { keys, parts }: ObjectShape, leaves: unknown[]): number {
  if (Object.getPrototypeOf(value) !== Object.prototype || hasToJson(value)) return other
  let at = 0
  let size = 2
  for (const key in value) {
    if (key !== keys[at]) return other
    const added = add((value as Record<string, unknown>)[key], parts[at], leaves)
    if (added < 0) return other
    size += added
    at++
  }
  return at === keys.length ? size : other
}
