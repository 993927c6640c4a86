/** Where the graph has its services, lines and labels. */
import { Graph, layout } from '@dagrejs/dagre'
import { flowId } from './flows.ts'

export interface Placed {
  readonly width: number
  readonly height: number
  readonly nodes: ReadonlyMap<string, { readonly x: number; readonly y: number }>
  readonly paths: ReadonlyMap<string, { readonly d: string; readonly x: number; readonly y: number }>
}

export const nodeSize = { width: 168, height: 62 } as const
const labelSize = { width: 132, height: 40 } as const
const margin = 12
/** Between nodes in a row or a column. */
const gap = 34

/** From left to right, and below what has no flow: among the others, lines would cross it. */
export function place(
  nodes: readonly string[],
  flows: readonly { readonly caller: string; readonly callee: string }[],
): Placed {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: gap, ranksep: 72, marginx: margin, marginy: margin })
  graph.setDefaultEdgeLabel(() => ({}))
  // Names are free, and dagre keeps some for itself.
  const [linked, idle] = split(nodes, (id) => flows.some(({ caller, callee }) => caller === id || callee === id))
  for (const id of linked) graph.setNode(`n ${id}`, { ...nodeSize })
  for (const { caller, callee } of flows)
    graph.setEdge(`n ${caller}`, `n ${callee}`, { ...labelSize, labelpos: 'c' }, flowId(caller, callee))
  layout(graph)
  const laidOut = sizeOf(graph)
  const { width, height, places } = rowsBelow(laidOut, idle)
  const placed = new Map([...linked.map((id): [string, Point] => [id, graph.node(`n ${id}`) as Point]), ...places])
  const paths = new Map(
    flows.map(({ caller, callee }) => {
      const id = flowId(caller, callee)
      const edge = graph.edge(`n ${caller}`, `n ${callee}`, id) as unknown as EdgePlace
      return [id, { d: curve(level(edge, caller === callee)), x: edge.x ?? 0, y: edge.y ?? 0 }]
    }),
  )
  return { width, height, nodes: placed, paths }
}

interface Point {
  readonly x: number
  readonly y: number
}

interface Size {
  readonly width: number
  readonly height: number
}

/** Of what has been laid out. */
function sizeOf(graph: Graph): Size {
  const { width, height } = graph.graph() as Partial<Size>
  // Without nodes these are infinite.
  return { width: finite(width), height: finite(height) }
}

function finite(value = 0): number {
  return Number.isFinite(value) ? value : 0
}

/** Rows of nodes as wide as what is above them, and of four at least. */
function rowsBelow(above: Size, nodes: readonly string[]): Size & { readonly places: readonly [string, Point][] } {
  if (nodes.length === 0) return { ...above, places: [] }
  const [column, row] = [nodeSize.width + gap, nodeSize.height + gap]
  const inRow = Math.max(4, Math.floor((above.width - 2 * margin + gap) / column))
  const top = above.height === 0 ? margin : above.height - margin + gap
  const places = nodes.map((id, at): [string, Point] => {
    const x = margin + (at % inRow) * column + nodeSize.width / 2
    return [id, { x, y: top + Math.floor(at / inRow) * row + nodeSize.height / 2 }]
  })
  const width = 2 * margin + Math.min(inRow, nodes.length) * column - gap
  const height = top + Math.ceil(nodes.length / inRow) * row - gap + margin
  return { width: Math.max(above.width, width), height, places }
}

function split<T>(values: readonly T[], isFirst: (value: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [values.filter(isFirst), values.filter((value) => !isFirst(value))]
}

interface EdgePlace {
  readonly points: readonly Point[]
  readonly x?: number
  readonly y?: number
}

/**
 * A smooth line does not touch its inner points, of which one is the middle of the label. So it is
 * level there, as wide as labels are: it lies behind its own label, and behind no other one.
 */
function level({ points, x, y }: EdgePlace, isOfOneNode: boolean): readonly Point[] {
  return points.flatMap((point, at) => {
    const [before, after] = [points[at - 1], points[at + 1]]
    if (before === undefined || after === undefined) return point
    if (isOfOneNode && (point.x !== x || point.y !== y)) return point
    const side = ((after.x < before.x ? -1 : 1) * labelSize.width) / 2
    return [{ x: point.x - side, y: point.y }, point, { x: point.x + side, y: point.y }]
  })
}

/** A smooth line through the points. */
function curve(points: readonly Point[]): string {
  const [first, ...rest] = points
  let d = `M${round(first!.x)} ${round(first!.y)}`
  rest.forEach((point, index) => {
    const next = rest[index + 1]
    if (next === undefined) d += ` L${round(point.x)} ${round(point.y)}`
    else d += ` Q${round(point.x)} ${round(point.y)} ${round((point.x + next.x) / 2)} ${round((point.y + next.y) / 2)}`
  })
  return d
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
