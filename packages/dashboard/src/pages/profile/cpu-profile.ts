/** Reads a `.cpuprofile` of V8: which function called which, and the time in each. */

/** What V8 writes (`Profiler.Profile` of the DevTools protocol). */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
    readonly children?: readonly number[]
  }[]
  readonly samples?: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas?: readonly number[]
}

export interface Frame {
  readonly id: number
  readonly name: string
  /** Where it is: a file and a line. */
  readonly place: string
  readonly depth: number
  readonly parent: Frame | undefined
  /** The widest first. */
  readonly children: readonly Frame[]
  /** Milliseconds of the function alone, and with those that it called. */
  readonly self: number
  readonly total: number
}

/** The root frame. Without `(idle)`, the time in which nothing ran. */
export function readProfile({ nodes, samples = [], timeDeltas = [] }: CpuProfile): Frame {
  const own = new Map<number, number>()
  samples.forEach((id, index) => own.set(id, (own.get(id) ?? 0) + Math.max(0, timeDeltas[index] ?? 0) / 1000))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const build = (id: number, depth: number, parent: Frame | undefined): Frame => {
    const { callFrame, children: ids = [] } = byId.get(id)!
    const self = own.get(id) ?? 0
    const frame = {
      id,
      name: callFrame.functionName || '(anonymous)',
      place: placeOf(callFrame),
      depth,
      parent,
      children: [] as Frame[],
      self,
      total: self,
    }
    frame.children = ids
      .map((child) => build(child, depth + 1, frame))
      .filter(({ name, total }) => total > 0 && !(depth === 0 && name === '(idle)'))
      .sort((one, other) => other.total - one.total)
    for (const { total } of frame.children) frame.total += total
    return frame
  }
  return build(nodes[0]!.id, 0, undefined)
}

export interface Hot {
  readonly name: string
  readonly place: string
  readonly self: number
}

/** The functions with the most time of their own. */
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

function placeOf({ url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  if (url === '') return ''
  const file = url.startsWith('node:') ? url : url.split('/').slice(-3).join('/') || url
  return `${file}:${lineNumber + 1}`
}
