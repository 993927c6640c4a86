import { isPlain } from '../value/kinds.ts'
import { isApart, isKind } from './apart.ts'
import { Document, type JsonSchema, type ListShape, type ObjectShape, type Shape, Unclear } from './shapes.ts'

/** The value without the fields that its schema does not declare; the very value where there are none. */
export type Strip = (value: unknown) => unknown

/**
 * Made from JSON Schema, for libraries that check objects and leave everything in them. Throws {@link Unclear} where it
 * cannot be told which fields belong to a value: in a choice of objects that no field tells apart.
 */
export function stripperOf(schema: JsonSchema): Strip {
  return new Stripper(new Document(schema)).of(schema, '')
}

const keep: Strip = (value) => value

class Stripper {
  readonly #document: Document
  /** By its schema; `undefined` while it is being made. */
  readonly #made = new Map<JsonSchema, { strip: Strip | undefined }>()

  constructor(document: Document) {
    this.#document = document
  }

  /** `place`: where it stands in the value, for messages. */
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
      if (isPlain(value)) return stripObject(value)
      // To a validator that only looks at fields a list is an object without any, and so is a set.
      if (Array.isArray(value) ? !isList : !isOther)
        throw new Unclear(`is an object by its schema, and a value is a ${value.constructor.name}${at(place)}`)
      return Array.isArray(value) ? stripList(value) : value
    }
  }

  #shapesOf(schema: JsonSchema, place: string): readonly Shape[] {
    try {
      return this.#document.shapesOf(schema)
    } catch (error) {
      throw error instanceof Unclear ? new Unclear(`${error.message}${at(place)}`) : error
    }
  }

  #objects(objects: readonly ObjectShape[], place: string): Strip {
    const strips = objects.map((object) => ({ object, strip: this.#object(object, place) }))
    // Where one of them may have any fields, so may all: the schema says that they may go out.
    if (strips.every(({ strip }) => strip === keep) || objects.some(isOpen)) return keep
    if (strips.length === 1) return strips[0]!.strip
    for (const [index, one] of objects.entries())
      for (const other of objects.slice(index + 1))
        if (!isApart(one, other)) throw new Unclear(`is a choice of objects that no field tells apart${at(place)}`)
    return (value) => {
      const found = strips.find(({ object }) => isKind(object, value as Fields))
      if (found === undefined) throw new Unclear(`is a choice of objects, and a value is none of them${at(place)}`)
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
    if (more.length > 0) throw new Unclear(`is a choice of lists with objects in them${at(place)}`)
    return (value) => stripItems(value as unknown[], (index) => only.first[index] ?? only.rest)
  }
}

type Fields = Readonly<Record<string, unknown>>

/** What may have any fields, and is not only the absence of words about objects. */
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
