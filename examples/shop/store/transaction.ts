import type { DatabaseSync } from 'node:sqlite'

/**
 * Commits, or rolls back if `run` throws. Takes the write lock at the start, so that it never waits
 * halfway.
 */
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
