import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { Product } from '../catalog/contract.ts'
import type { Order } from '../checkout/contract.ts'
import type { Level, Wanted } from '../stock/contract.ts'
import { migrate } from './migrations.ts'
import type { Store } from './store.ts'
import { inTransaction } from './transaction.ts'

const file = process.env['SHOP_DATABASE'] ?? join(import.meta.dirname, '..', '.busbar', 'shop.db')

/** Each service has its own connection in every worker. */
export function openDatabase(): Store {
  mkdirSync(dirname(file), { recursive: true })
  // Without a timeout, a concurrent write fails at once.
  const database = new DatabaseSync(file, { timeout: 5000 })
  migrate(database)

  function prepare<Row>(sql: string): Query<Row> {
    const statement = database.prepare(sql)
    return {
      all: (...values) => statement.all(...values) as Row[],
      get: (...values) => statement.get(...values) as Row | undefined,
      run: (...values) => Number(statement.run(...values).changes),
    }
  }

  const columns = 'id, name, text, cents, picture, hue'
  const featured = prepare<Product>(`SELECT ${columns} FROM products WHERE featured = 1 ORDER BY id`)
  const search = prepare<Product>(`
    SELECT ${columns} FROM products AS product WHERE NOT EXISTS
      (SELECT 1 FROM json_each(?) WHERE instr(lower(product.name || ' ' || product.text), value) = 0)
    ORDER BY id`)
  const products = prepare<Product>(
    `SELECT ${columns} FROM products WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`,
  )
  const levels = prepare<Level>(
    'SELECT product, "left" FROM stock WHERE product IN (SELECT value FROM json_each(?)) ORDER BY product',
  )
  const take = prepare('UPDATE stock SET "left" = "left" - ?1 WHERE product = ?2 AND "left" >= ?1')
  const noteTaken = prepare('INSERT INTO taken (id) VALUES (?) ON CONFLICT DO NOTHING')
  const lines = prepare<Wanted>('SELECT product, count FROM lines WHERE cart = ? ORDER BY rowid')
  const put = prepare(`
    INSERT INTO lines (cart, product, count) VALUES (?, ?, ?)
    ON CONFLICT (cart, product) DO UPDATE SET count = excluded.count`)
  const remove = prepare('DELETE FROM lines WHERE cart = ? AND product = ?')
  const order = prepare<Order>('SELECT number, name, email, cents FROM orders WHERE cart = ?')
  const addOrder = prepare('INSERT INTO orders (cart, name, email, cents) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')

  return {
    featured: () => featured.all(),
    search: (text) => search.all(JSON.stringify(text.toLowerCase().split(/\s+/))),
    products: (ids) => products.all(JSON.stringify(ids)),
    levels: (ids) => levels.all(JSON.stringify(ids)),
    take: (id, wanted) =>
      inTransaction(database, (rollback) => {
        if (noteTaken.run(id) === 0) return undefined
        const short = wanted.find(({ product, count }) => take.run(count, product) === 0)
        if (short === undefined) return undefined
        rollback()
        return levels.get(JSON.stringify([short.product])) ?? { product: short.product, left: 0 }
      }),
    lines: (cart) => lines.all(cart),
    put: (cart, product, count) => void (count === 0 ? remove.run(cart, product) : put.run(cart, product, count)),
    order: (cart) => order.get(cart),
    addOrder(cart, { name, email, cents }) {
      addOrder.run(cart, name, email, cents)
      return order.get(cart)!
    },
    [Symbol.dispose]: () => database.close(),
  }
}

interface Query<Row> {
  all(...values: SQLInputValue[]): Row[]
  get(...values: SQLInputValue[]): Row | undefined
  /** Number of changed rows. */
  run(...values: SQLInputValue[]): number
}
