import type { DatabaseSync } from 'node:sqlite'

/** All of it, or nothing where `run` throws or rolls back. Writes from the start, so that it waits for others then, and not halfway. */
export function inTransaction<R>(database: DatabaseSync, run: (rollback: () => void) => R): R {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = run(() => database.exec('ROLLBACK'))
    if (database.isTransaction) database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
