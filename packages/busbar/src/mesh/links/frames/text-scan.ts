/**
 * Looks through JSON for what takes long to parse, which takes less time than to parse it. V8 has a
 * hidden class for each sequence of names with which objects begin, and needs 1 to 3 µs to make
 * one. So a list of a million objects with the same names is cheap, and one of different names is
 * not.
 */
import { endOfString } from '../../../contract/value/decode.ts'

export interface TextLimits {
  readonly depth: number
  /** Lists and objects within the outermost list. */
  readonly frames: number
  /** Values of all kinds. */
  readonly elements: number
  /** Sequences of names with which objects begin. */
  readonly names: number
  /** Names that begin with a dollar sign, as those of tags do. */
  readonly tags: number
  /** Tags of byte strings. */
  readonly byteStrings: number
  /** Characters of bigints. */
  readonly digits: number
}

/** `exceeds`: a limit. The text is then not looked through to its end. */
export interface TextScan {
  readonly exceeds: keyof TextLimits | undefined
  readonly elements: number
  /** Lists and objects. */
  readonly containers: number
}

/** The text may be malformed: nothing is then missed that a parser would take. */
export function scanText(text: string, limits: TextLimits): TextScan {
  const names = new NameSequences()
  /** By depth: where each of the open objects is. */
  const open: (NameNode | undefined)[] = []
  let depth = 0
  let frames = 0
  let elements = 0
  let containers = 0
  let start = 0
  let end = 0
  const tags = new TagCounts(limits)
  let exceeds: keyof TextLimits | undefined
  for (let at = 0; at < text.length && exceeds === undefined; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      start = at
      at = end = endOfString(text, at)
      if (tags.isBigint && tags.hasTooManyDigits(end - start)) exceeds = 'digits'
    } else if (code === 0x2c) {
      if (++elements > limits.elements) exceeds = 'elements'
    } else if (code === 0x3a) {
      const node = open[depth]
      if (node !== undefined) open[depth] = names.next(node, text, start, end)
      if (names.size > limits.names) exceeds = 'names'
      else if (startsAsTag(text, start)) exceeds = tags.add(text, start, end)
    } else if (code === 0x5b || code === 0x7b) {
      if (++depth > limits.depth) exceeds = 'depth'
      else if (depth === 2 && ++frames > limits.frames) exceeds = 'frames'
      else if (++elements > limits.elements) exceeds = 'elements'
      containers++
      open[depth] = code === 0x7b ? names.root : undefined
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return { exceeds, elements, containers }
}

/** The name at `start` begins with a dollar sign, which may be written as an escape. */
function startsAsTag(text: string, start: number): boolean {
  const code = text.charCodeAt(start + 1)
  return code === 0x24 || (code === 0x5c && text.startsWith('u0024', start + 2))
}

/** Characters of the longest name of a tag that counts, if each is written as an escape. */
const longestTag = '"$bigint"'.length * '\\u0024'.length

/** The name is the JSON string from `start` to its last quote, and may be malformed. */
function tagAt(text: string, start: number, end: number): string {
  const json = text.slice(start, Math.min(end + 1, start + longestTag))
  if (!json.includes('\\')) return json
  try {
    return JSON.stringify(JSON.parse(json))
  } catch {
    return json
  }
}

class TagCounts {
  /** The last name was that of a bigint's tag: a text after it is its digits. */
  isBigint = false
  readonly #limits: TextLimits
  #tags = 0
  #byteStrings = 0
  #digits = 0

  constructor(limits: TextLimits) {
    this.#limits = limits
  }

  /** The name is the JSON string from `start` to `end`. Returns the limit that it exceeds. */
  add(text: string, start: number, end: number): keyof TextLimits | undefined {
    const tag = tagAt(text, start, end)
    this.isBigint = tag === '"$bigint"'
    if (++this.#tags > this.#limits.tags) return 'tags'
    return tag === '"$bytes"' && ++this.#byteStrings > this.#limits.byteStrings ? 'byteStrings' : undefined
  }

  hasTooManyDigits(length: number): boolean {
    this.isBigint = false
    this.#digits += length
    return this.#digits > this.#limits.digits
  }
}

/** A sequence of names, and those that are one longer. */
interface NameNode {
  /** Of the child that was added first: most objects have the names of the one before. */
  name: string | undefined
  child: NameNode | undefined
  others: Map<string, NameNode> | undefined
}

class NameSequences {
  readonly root: NameNode = { name: undefined, child: undefined, others: undefined }
  size = 0

  /** The name is the JSON string from `start` to `end`. */
  next(node: NameNode, text: string, start: number, end: number): NameNode {
    const { name, child } = node
    if (name === undefined) {
      node.name = text.slice(start, end)
      return (node.child = this.#create())
    }
    if (name.length === end - start && text.startsWith(name, start)) return child!
    const other = text.slice(start, end)
    const others = (node.others ??= new Map())
    let found = others.get(other)
    if (found === undefined) others.set(other, (found = this.#create()))
    return found
  }

  #create(): NameNode {
    this.size++
    return { name: undefined, child: undefined, others: undefined }
  }
}
