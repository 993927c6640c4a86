import { closeSync, mkdirSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { unusable } from '../messages.ts'

/** Says in the head of the file whose it is (SQLite's `application_id`). */
const applicationId = 0x42_75_71_31
const version = 1

/**
 * `state`: 0 waiting, 1 running, 2 dead. `due`: when the next attempt may begin; of a dead letter,
 * when it died. `seen` has the ids within the window.
 */
const tables = `
  CREATE TABLE items (
    number INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL, id TEXT NOT NULL,
    state INTEGER NOT NULL, due INTEGER NOT NULL, attempt INTEGER NOT NULL, added INTEGER NOT NULL,
    size INTEGER NOT NULL, input TEXT, origin TEXT, code TEXT, message TEXT
  ) STRICT;
  CREATE INDEX items_due ON items (target, state, due);
  CREATE INDEX items_dead ON items (due) WHERE state = 2;
  CREATE TABLE seen (
    number INTEGER PRIMARY KEY, target TEXT NOT NULL, id TEXT NOT NULL, until INTEGER NOT NULL, UNIQUE (target, id)
  ) STRICT;
  CREATE INDEX seen_until ON seen (until);
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${version};`

/** Codes of SQLite. */
const busy = 5

/** Bytes that a disk with room takes. */
const triedSize = 64 * 1024

/**
 * Opens the file, and creates it if there is none. Undefined: another one owns it. The lock is the
 * operating system's, so it ends with its process, however that dies.
 */
export function openDatabase(file: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // Items may hold what only this user may read.
    closeSync(openSync(file, 'a', 0o600))
    database = new DatabaseSync(file, { timeout: 0 })
    // FULL: a commit returns when the log is on disk. `fullfsync` makes macOS flush the drive's
    // cache.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    database.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA journal_size_limit = 67108864')
    prepare(database)
    return database
  } catch (cause) {
    database?.close()
    if ((cause as { errcode?: unknown }).errcode === busy) return undefined
    throw unusable(file, cause)
  }
}

/**
 * Throws if nothing can be written. Room that SQLite's log has had before says nothing of the disk,
 * and a file beside it says nothing of limits of the log.
 */
export function tryWriting(database: DatabaseSync, file: string): void {
  database.exec(`PRAGMA user_version = ${version}`)
  const beside = `${file}-check`
  try {
    writeFileSync(beside, new Uint8Array(triedSize), { mode: 0o600 })
  } finally {
    rmSync(beside, { force: true })
  }
}

/**
 * A function that tells whether `file` still is the one of now. SQLite does not notice when it is
 * deleted or replaced: all that is written goes to a file without a name, and is lost at its close.
 */
export function watchPlace(file: string): () => boolean {
  const identity = (): string | undefined => {
    const found = statSync(file, { throwIfNoEntry: false })
    return found && `${found.dev}:${found.ino}`
  }
  const opened = identity()
  return () => identity() === opened
}

function prepare(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE')
  const read = (what: string): unknown => Object.values(database.prepare(what).get() ?? {})[0]
  const owner = read('PRAGMA application_id')
  const found = read('PRAGMA user_version')
  if (read('SELECT count(*) FROM sqlite_schema') === 0) database.exec(tables)
  else if (owner !== applicationId) throw new Error('it is the database of another program')
  else if (found !== version) throw new Error(`it has the format ${String(found)}, and this version writes ${version}`)
  database.exec('COMMIT')
}
