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

/** From left to right. */
export function place(
  nodes: readonly string[],
  flows: readonly { readonly caller: string; readonly callee: string }[],
): Placed {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 34, ranksep: 72, marginx: 12, marginy: 12 })
  graph.setDefaultEdgeLabel(() => ({}))
  // Names are free, and dagre keeps some for itself.
  for (const id of nodes) graph.setNode(`n ${id}`, { ...nodeSize })
  for (const { caller, callee } of flows)
    graph.setEdge(`n ${caller}`, `n ${callee}`, { ...labelSize, labelpos: 'c' }, flowId(caller, callee))
  layout(graph)
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  const placed = new Map(nodes.map((id) => [id, graph.node(`n ${id}`) as { x: number; y: number }]))
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
