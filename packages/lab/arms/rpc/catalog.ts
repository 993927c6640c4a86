/**
 * The data of every arm of the scenario, so that arms differ only in the layer above: some of the
 * `PRODUCTS` (JSON), from memory or from a table in SQLite.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface Product {
  id: number
  name: string
  category: string
  cents: number
  stock: number
}

const columns = ['id', 'name', 'category', 'cents', 'stock'] as const
const all = JSON.parse(process.env['PRODUCTS'] ?? '[]') as Product[]
const select = filled().prepare(`SELECT ${columns.join(', ')} FROM products ORDER BY id LIMIT ?`)

export function constant(limit: number): Product[] {
  return limit === all.length ? all : all.slice(0, limit)
}

export function stored(limit: number): Product[] {
  return select.all(limit) as object as Product[]
}

/** Validates like a schema: throws unless it is an integer from 1 to 100. */
export function limitOf(input: unknown): number {
  const limit = (input as { limit?: unknown } | null)?.limit
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > 100)
    throw new Error('limit is wrong')
  return limit
}

/** A file in the arm's `FOLDER`, one per instance, so that instances do not wait for each other. */
function filled(): DatabaseSync {
  const database = new DatabaseSync(join(process.env['FOLDER'] ?? '.', `products-${randomUUID()}.db`))
  database.exec(
    'CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, category TEXT, cents INTEGER, stock INTEGER)',
  )
  const insert = database.prepare('INSERT INTO products VALUES (?, ?, ?, ?, ?)')
  for (const product of all) insert.run(...columns.map((column) => product[column]))
  return database
}
