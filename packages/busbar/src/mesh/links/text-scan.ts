/**
 * Looks through JSON for what takes long to parse, which takes less time than to parse it. V8 has a
 * hidden class for each sequence of names with which objects begin, and needs 1 to 3 µs to make
 * one. So a list of a million objects with the same names is cheap, and one of different names is
 * not.
 */
import { endOfString } from '../../contract/value/decode.ts'

export interface TextLimits {
  readonly depth: number
  /** Lists and objects within the outermost list. */
  readonly frames: number
  /** Values of all kinds. */
  readonly elements: number
  /** Sequences of names with which objects begin. */
  readonly names: number
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
  let exceeds: keyof TextLimits | undefined
  for (let at = 0; at < text.length && exceeds === undefined; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      start = at
      at = end = endOfString(text, at)
    } else if (code === 0x2c) {
      if (++elements > limits.elements) exceeds = 'elements'
    } else if (code === 0x3a) {
      const node = open[depth]
      if (node !== undefined) open[depth] = names.next(node, text, start, end)
      if (names.size > limits.names) exceeds = 'names'
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
