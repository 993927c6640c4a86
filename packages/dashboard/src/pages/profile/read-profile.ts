/** Reads the profiles of V8: which function called which, and what each has used. */

/** What a profile measures: milliseconds of the processor, or bytes. */
export type Measured = 'cpu' | 'heap'

interface CallFrame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

/** A `.cpuprofile` (`Profiler.Profile` of the DevTools protocol). */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: CallFrame
    readonly children?: readonly number[]
  }[]
  readonly samples?: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas?: readonly number[]
}

/** A `.heapprofile` (`HeapProfiler.SamplingHeapProfile`), of what was allocated. */
interface HeapProfile {
  readonly head: HeapNode
}

interface HeapNode {
  readonly id: number
  readonly callFrame: CallFrame
  /** Bytes. */
  readonly selfSize: number
  readonly children: readonly HeapNode[]
}

/** Whose code it is: that of Node and V8, of packages and Busbar, or the app’s own. */
type Owner = 'node' | 'package' | 'own'

export interface Frame {
  readonly id: number
  readonly name: string
  /** Where it is: a file and a line. */
  readonly place: string
  readonly owner: Owner
  readonly depth: number
  readonly parent: Frame | undefined
  /** The widest first. */
  readonly children: readonly Frame[]
  /** Of the function alone, and with those that it called. */
  readonly self: number
  readonly total: number
}

/** The root frame. */
export function readProfile(text: string, measured: Measured): Frame {
  const profile: unknown = JSON.parse(text)
  return frameOf(measured === 'cpu' ? cpuTree(profile as CpuProfile) : heapTree((profile as HeapProfile).head))
}

interface Node {
  readonly id: number
  readonly callFrame: CallFrame
  readonly self: number
  readonly children: readonly Node[]
}

function frameOf({ id, callFrame, self, children }: Node, parent?: Frame): Frame {
  const depth = parent === undefined ? 0 : parent.depth + 1
  const name = callFrame.functionName || '(anonymous)'
  const [place, owner] = [placeOf(callFrame), ownerOf(callFrame)]
  const frame = { id, name, place, owner, depth, parent, children: [] as Frame[], self, total: self }
  frame.children = children
    .map((child) => frameOf(child, frame))
    .filter(({ total }) => total > 0)
    .sort((one, other) => other.total - one.total)
  for (const { total } of frame.children) frame.total += total
  return frame
}

/** Without `(idle)`, the time in which nothing ran. */
function cpuTree({ nodes, samples = [], timeDeltas = [] }: CpuProfile): Node {
  const own = new Map<number, number>()
  samples.forEach((id, index) => own.set(id, (own.get(id) ?? 0) + Math.max(0, timeDeltas[index] ?? 0) / 1000))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const build = (id: number): Node => {
    const { callFrame, children = [] } = byId.get(id)!
    return { id, callFrame, self: own.get(id) ?? 0, children: children.map(build) }
  }
  const root = build(nodes[0]!.id)
  return { ...root, children: root.children.filter(({ callFrame }) => callFrame.functionName !== '(idle)') }
}

function heapTree({ id, callFrame, selfSize, children }: HeapNode): Node {
  return { id, callFrame, self: selfSize, children: children.map(heapTree) }
}

export interface Hot {
  readonly name: string
  readonly place: string
  readonly self: number
}

/** The functions that used most themselves. */
export function hottest(root: Frame, most: number): Hot[] {
  const found = new Map<string, { name: string; place: string; self: number }>()
  const visit = (frame: Frame): void => {
    const key = `${frame.name} ${frame.place}`
    const known = found.get(key) ?? { name: frame.name, place: frame.place, self: 0 }
    known.self += frame.self
    found.set(key, known)
    frame.children.forEach(visit)
  }
  visit(root)
  return [...found.values()]
    .filter(({ self }) => self > 0)
    .sort((one, other) => other.self - one.self)
    .slice(0, most)
}

function ownerOf({ url, functionName }: CallFrame): Owner {
  if (url === '' || url.startsWith('node:') || functionName.startsWith('(')) return 'node'
  return /\/node_modules\/|\/packages\/busbar\/(?:dist|src)\//.test(url) ? 'package' : 'own'
}

function placeOf({ url, lineNumber }: CallFrame): string {
  if (url === '') return ''
  const file = url.startsWith('node:') ? url : url.split('/').slice(-3).join('/') || url
  return `${file}:${lineNumber + 1}`
}
