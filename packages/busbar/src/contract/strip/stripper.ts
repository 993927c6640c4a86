import { isPlainObject } from '../value/serialisable.ts'
import { areDistinguishable, matchesShape } from './alternatives.ts'
import {
  SchemaDocument,
  type JsonSchema,
  type ListShape,
  type ObjectShape,
  type Shape,
  AmbiguousFields,
} from './object-shapes.ts'

/** Removes fields that the schema does not declare. Returns the same value if there are none. */
export type Strip = (value: unknown) => unknown

/**
 * Creates a stripper from JSON Schema, for libraries that validate objects but keep undeclared
 * fields. Throws {@link AmbiguousFields} if the declared fields cannot be determined: in a union of
 * objects that no field distinguishes.
 */
export function stripperOf(schema: JsonSchema): Strip {
  return new Stripper(new SchemaDocument(schema)).of(schema, '')
}

const keep: Strip = (value) => value

class Stripper {
  readonly #document: SchemaDocument
  /** By schema; `undefined` while it is being created. */
  readonly #made = new Map<JsonSchema, { strip: Strip | undefined }>()

  constructor(document: SchemaDocument) {
    this.#document = document
  }

  /** `place`: the path in the value, for errors. */
  of(schema: JsonSchema, place: string): Strip {
    if (typeof schema === 'boolean') return keep
    const known = this.#made.get(schema)
    if (known !== undefined) return known.strip ?? ((value) => known.strip!(value))
    const making: { strip: Strip | undefined } = { strip: undefined }
    this.#made.set(schema, making)
    return (making.strip = this.#make(schema, place))
  }

  #make(schema: JsonSchema, place: string): Strip {
    const shapes = this.#shapesOf(schema, place)
    const objects = shapes.flatMap(({ object }) => (object === undefined ? [] : [object]))
    const lists = shapes.flatMap(({ list }) => (list === undefined ? [] : [list]))
    const stripObject = this.#objects(objects, place)
    const stripList = this.#lists(lists, place)
    if (stripObject === keep && stripList === keep) return keep
    const isList = lists.length > 0
    const isOther = shapes.some(({ object, list }) => object === undefined && list === undefined)
    return (value) => {
      if (typeof value !== 'object' || value === null) return value
      if (isPlainObject(value)) return stripObject(value)
      // A validator that only checks fields accepts a list, or a set, as an object without fields.
      if (Array.isArray(value) ? !isList : !isOther)
        throw new AmbiguousFields(`is declared as an object, but a value is a ${value.constructor.name}${at(place)}`)
      return Array.isArray(value) ? stripList(value) : value
    }
  }

  #shapesOf(schema: JsonSchema, place: string): readonly Shape[] {
    try {
      return this.#document.shapesOf(schema)
    } catch (error) {
      throw error instanceof AmbiguousFields ? new AmbiguousFields(`${error.message}${at(place)}`) : error
    }
  }

  #objects(objects: readonly ObjectShape[], place: string): Strip {
    const strips = objects.map((object) => ({ object, strip: this.#object(object, place) }))
    // If one alternative allows any fields, all do: the schema declares that they may leave.
    if (strips.every(({ strip }) => strip === keep) || objects.some(isOpen)) return keep
    if (strips.length === 1) return strips[0]!.strip
    for (const [index, one] of objects.entries())
      for (const other of objects.slice(index + 1))
        if (!areDistinguishable(one, other))
          throw new AmbiguousFields(`is a union of objects that no field distinguishes${at(place)}`)
    return (value) => {
      const found = strips.find(({ object }) => matchesShape(object, value as Fields))
      if (found === undefined)
        throw new AmbiguousFields(`is a union of objects, and a value matches none of them${at(place)}`)
      return found.strip(value)
    }
  }

  #object({ fields, patterns, rest, isClosed }: ObjectShape, place: string): Strip {
    const byName = new Map([...fields].map(([name, schema]) => [name, this.of(schema, `${place}.${name}`)]))
    const byPattern = patterns.map(([pattern, schema]) => ({ pattern, strip: this.of(schema, `${place}.*`) }))
    const others = rest === undefined ? undefined : this.of(rest, `${place}.*`)
    const declared = [...byName.values(), ...byPattern.map(({ strip }) => strip)]
    if ((isClosed || others === keep) && declared.every((one) => one === keep)) return keep
    const stripOf = (key: string): Strip | undefined =>
      byName.get(key) ?? byPattern.find(({ pattern }) => pattern.test(key))?.strip ?? others
    return (value) => stripFields(value as Fields, stripOf)
  }

  #lists(lists: readonly ListShape[], place: string): Strip {
    const strips = lists.map(({ first, rest }) => ({
      first: first.map((schema, index) => this.of(schema, `${place}.${index}`)),
      rest: rest === undefined ? keep : this.of(rest, `${place}.*`),
    }))
    const isKept = ({ first, rest }: (typeof strips)[number]): boolean => [...first, rest].every((one) => one === keep)
    const [only, ...more] = strips.filter((one) => !isKept(one))
    if (only === undefined) return keep
    if (more.length > 0) throw new AmbiguousFields(`is a union of lists of objects${at(place)}`)
    return (value) => stripItems(value as unknown[], (index) => only.first[index] ?? only.rest)
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Allows any fields, and declares some keyword about objects. */
function isOpen({ fields, patterns, rest }: ObjectShape): boolean {
  return rest === true && fields.size === 0 && patterns.length === 0
}

function stripFields(value: Fields, stripOf: (key: string) => Strip | undefined): unknown {
  const entries: [string, unknown][] = []
  let isSame = true
  for (const key of Object.keys(value)) {
    const strip = stripOf(key)
    if (strip === undefined) isSame = false
    else {
      const part = value[key]
      const stripped = strip(part)
      isSame &&= Object.is(stripped, part)
      entries.push([key, stripped])
    }
  }
  return isSame ? value : Object.fromEntries(entries)
}

function stripItems(list: readonly unknown[], stripOf: (index: number) => Strip): unknown {
  let copy: unknown[] | undefined
  for (const [index, item] of list.entries()) {
    const stripped = stripOf(index)(item)
    if (!Object.is(stripped, item)) (copy ??= [...list])[index] = stripped
  }
  return copy ?? list
}

function at(place: string): string {
  return place === '' ? '' : ` at \`${place.slice(1)}\``
}
