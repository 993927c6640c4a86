import { items, type Item } from './contract.ts'

/** Maximum number of items, since memory must be bounded. */
const maxItems = 100_000

export default items.implement(() => {
  const stored = new Map<string, Item>()
  for (const item of preloaded(Number(process.env['PRELOAD'] ?? 0))) stored.set(item.id, item)
  return {
    add(item, { fail }) {
      if (stored.size >= maxItems && !stored.has(item.id)) fail('FULL')
      stored.set(item.id, item)
      return item
    },
    item: ({ id }, { fail }) => stored.get(id) ?? fail('NOT_FOUND', { id }),
    list: ({ limit }) => [...stored.values().take(limit ?? maxItems)],
  }
})

function preloaded(count: number): Item[] {
  if (!Number.isInteger(count) || count < 0 || count > maxItems)
    throw new Error(`PRELOAD is ${process.env['PRELOAD']}, not an integer up to ${maxItems}`)
  return Array.from({ length: count }, (_, at) => ({ id: String(at + 1), name: `Item ${at + 1}` }))
}
