/** The calls of a trace and the spans of services' own, each below what caused it. */
import type { Hop, OwnSpan, Trace } from '../../api/types.ts'

export type Row =
  | { readonly kind: 'call'; readonly id: string; readonly depth: number; readonly call: Hop }
  | { readonly kind: 'own'; readonly id: string; readonly depth: number; readonly own: OwnSpan }

/** In the order of their starts within each level. */
export function rowsOf({ calls, own }: Pick<Trace, 'calls' | 'own'>): Row[] {
  const callOf = new Map(calls.flatMap(({ id, spans }) => spans.map((span) => [span, id] as const)))
  const all = [
    ...calls.map((call) => ({
      at: call.start,
      parent: call.within ?? call.parent,
      row: { kind: 'call', id: call.id, call } as const,
    })),
    ...own.map((one) => ({
      at: one.start,
      parent: one.parent === null ? null : (callOf.get(one.parent) ?? one.parent),
      row: { kind: 'own', id: one.id, own: one } as const,
    })),
  ].toSorted((one, other) => one.at - other.at)
  const children = Map.groupBy(all, ({ parent }) => parent)
  const found: Row[] = []
  const seen = new Set<string>()
  const add = ({ row }: (typeof all)[number], depth: number): void => {
    if (seen.has(row.id)) return
    seen.add(row.id)
    found.push({ ...row, depth })
    for (const child of children.get(row.id) ?? []) add(child, depth + 1)
  }
  // Spans that are each other's parents come last.
  for (const one of [...(children.get(null) ?? []), ...all]) add(one, 0)
  return found
}
