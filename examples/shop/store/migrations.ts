import type { DatabaseSync } from 'node:sqlite'
import { seed } from './seed.ts'
import { inTransaction } from './transaction.ts'

type Migration = (database: DatabaseSync) => void

/** Each runs once, in this order. Never edit one: add another at the end. */
const migrations: readonly Migration[] = [createTables, fill]

/** SQLITE_BUSY; extended codes have more bits. */
const busy = 5

/** Safe to call concurrently: the first call migrates, the others find it done. */
export function migrate(database: DatabaseSync): void {
  // In this mode readers do not wait for a writer.
  useWriteAheadLog(database)
  database.exec('PRAGMA synchronous = NORMAL')
  inTransaction(database, () => {
    const { user_version: done } = database.prepare('PRAGMA user_version').get() as { user_version: number }
    for (const migration of migrations.slice(done)) migration(database)
    database.exec(`PRAGMA user_version = ${migrations.length}`)
  })
}

function createTables(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE products (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL, cents INTEGER NOT NULL,
      picture TEXT NOT NULL, hue INTEGER NOT NULL, featured INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE stock (product INTEGER PRIMARY KEY, "left" INTEGER NOT NULL CHECK ("left" >= 0)) STRICT;
    CREATE TABLE taken (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE lines (
      cart TEXT NOT NULL, product INTEGER NOT NULL, count INTEGER NOT NULL, UNIQUE (cart, product)
    ) STRICT;
    CREATE TABLE orders (
      number INTEGER PRIMARY KEY, cart TEXT NOT NULL UNIQUE, name TEXT NOT NULL, email TEXT NOT NULL,
      cents INTEGER NOT NULL
    ) STRICT;
  `)
}

function fill(database: DatabaseSync): void {
  const product = database.prepare('INSERT INTO products VALUES (?, ?, ?, ?, ?, ?, ?)')
  const stock = database.prepare('INSERT INTO stock VALUES (?, ?)')
  for (const { id, name, text, cents, picture, hue, featured, left } of seed) {
    product.run(id, name, text, cents, picture, hue, featured ? 1 : 0)
    stock.run(id, left)
  }
}

/**
 * Services and workers open a new database at the same time. SQLite does not wait for the others in
 * this change, whatever the timeout, and reports a locked database at once.
 */
function useWriteAheadLog(database: DatabaseSync): void {
  const end = Date.now() + 5000
  for (;;)
    try {
      return database.exec('PRAGMA journal_mode = WAL')
    } catch (error) {
      const isBusy = ((error as { errcode?: number }).errcode! & 0xff) === busy
      if (!isBusy || Date.now() > end) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
}
