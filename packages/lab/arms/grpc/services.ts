/**
 * What the gRPC servers in Node answer: `rpz.ItemService`, with as many items as `PRELOAD` says,
 * and `lab.v1.Catalog`, with the `PRODUCTS` in JSON. `main.go` does the same.
 */
import { readFileSync } from 'node:fs'

export interface Item {
  readonly id: string
  readonly name: string
}

const { PRELOAD = '0', PRODUCTS = '[]', TLS_CERT, TLS_KEY } = process.env
const items = new Map<string, Item>()
for (let id = 1; id <= Number(PRELOAD); id++) keepItem({ id: String(id), name: `Item ${id}` })
const products = JSON.parse(PRODUCTS) as object[]

export const port = Number(process.env['PORT'] ?? 0)

/** Undefined in clear. */
export const certificate =
  TLS_CERT && TLS_KEY ? { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) } : undefined

export function keepItem({ id, name }: Item): Item {
  const item = { id, name }
  items.set(id, item)
  return item
}

export function findItem(id: string): Item | undefined {
  return items.get(id)
}

export function listItems(limit: number | undefined): Item[] {
  return [...items.values().take(limit ?? items.size)]
}

export function listProducts(limit: number): object[] {
  return limit === products.length ? products : products.slice(0, limit)
}
