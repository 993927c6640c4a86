/** A segment of a path without the syntax of a template. It comes from a client. */
const plain = /^[\w.~%@!$&,;=-]*$/
/** Numbers, UUIDs and hexadecimal ids. */
const idForm = /^(?:\d+|[\da-f]{8}-[\da-f-]{27}|(?=.*\d)[\da-f]{8,})$/i
/** Of one route. */
const maxShapes = 3
const maxMethods = 2

/**
 * Where a route was found. Express has the path at which its router is mounted, with the values of
 * parameters, which clients choose, instead of their names. So what differs between two of these
 * paths is a parameter from then on, and one route has a few templates only.
 */
export class Mounts {
  /** The segments that each has had, by their number. */
  readonly #shapes = new Map<number, Shape>()
  /** The templates of each. */
  readonly #found = new Map<number, Set<string>>()
  readonly #methods = new Set<string>()
  #last: string | undefined

  /** Than at the last request. */
  isOther(method: string, base: string): boolean {
    const last = this.#last
    this.#last = `${method} ${base}`
    return this.#last !== last
  }

  /** At the next request, whatever it is. */
  lookAgain(): void {
    this.#last = undefined
  }

  /** What comes before a template: a route of many methods, as of `app.all`, has one for all. */
  prefixFor(method: string): string {
    // Express answers HEAD by the routes of GET.
    const own = method === 'HEAD' ? 'GET' : method
    if (this.#methods.size <= maxMethods) this.#methods.add(own)
    return this.#methods.size > maxMethods ? '' : `${own} `
  }

  /** Undefined: this request does not tell parameters from text, or there are too many. */
  mountAt(base: string, params: readonly Param[]): Mount | undefined {
    const segments = base.split('/')
    if (params.some(([, value]) => count(segments, value) > count(params.map(valueOf), value))) return undefined
    const shape = this.#shapes.get(segments.length)
    if (shape === undefined && this.#shapes.size === maxShapes) return undefined
    const next = shapeWith(shape, segments, params)
    this.#shapes.set(segments.length, next)
    // Text of a client hardly comes twice in a row.
    const needsAnother = shape === undefined && next.some(Boolean)
    if (needsAnother) {
      this.lookAgain()
      return undefined
    }
    const known = this.#found.get(segments.length)
    const isWider = shape?.some((segment, at) => segment !== undefined && next[at] === undefined) === true
    const found = known === undefined || isWider ? new Set<string>() : known
    this.#found.set(segments.length, found)
    return { path: named(next, segments, params), found, withdrawn: isWider ? [...(known ?? [])] : [] }
  }
}

/** Where a route is mounted. */
interface Mount {
  readonly path: string
  /** The templates that only the route has there. */
  readonly found: Set<string>
  /** Those that it had while a parameter was taken for text. */
  readonly withdrawn: readonly string[]
}

/** Undefined for a parameter. */
type Shape = readonly (string | undefined)[]

/** `shape`: of earlier requests. */
function shapeWith(shape: Shape | undefined, segments: readonly string[], params: readonly Param[]): Shape {
  return segments.map((segment, at) => {
    const isParam = params.some((one) => valueOf(one) === segment)
    if (isParam || idForm.test(segment) || !plain.test(segment)) return undefined
    return shape === undefined ? segment : sameText(shape[at], segment)
  })
}

function named(shape: Shape, segments: readonly string[], params: readonly Param[]): string {
  const left = [...params]
  const nameOf = (value: string): string => {
    const found = left.findIndex((one) => valueOf(one) === value)
    return found === -1 ? 'id' : left.splice(found, 1)[0]![0]
  }
  return shape.map((segment, at) => segment ?? `:${nameOf(segments[at]!)}`).join('/')
}

function count(values: readonly unknown[], value: unknown): number {
  return values.filter((one) => one === value).length
}

/** Express ignores the case. Undefined if they differ in more than that. */
function sameText(known: string | undefined, segment: string): string | undefined {
  if (known?.toLowerCase() !== segment.toLowerCase()) return undefined
  return segment === segment.toLowerCase() ? segment : known
}

export type Param = readonly [name: string, value: unknown]

function valueOf([, value]: Param): unknown {
  return value
}
