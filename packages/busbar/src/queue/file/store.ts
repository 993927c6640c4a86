import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { DeadLetter, QueueChange } from '../../shared/queues.ts'
import { type ItemAttempt, type ItemOrigin, type ItemToAdd, type Reason, splitTarget } from '../item-queue.ts'
import { unwritable } from '../messages.ts'
import { tryWriting } from './database.ts'
import { Tally } from './tally.ts'

/** An item that an attempt runs. */
export interface ClaimedItem extends ItemAttempt {
  readonly number: number
  readonly size: number
}

/** An item that waits, or ran when the last owner of the file ended. */
export interface LeftItem extends ItemToAdd {
  readonly number: number
}

/** An item as its row has it. */
interface NewRow extends Omit<ItemToAdd, 'origin'> {
  /** JSON. */
  readonly origin: string
  /** Bytes of its input and its origin, which `queues.maxSize` counts. */
  readonly size: number
}

export function toRow({ origin: given, ...item }: ItemToAdd): NewRow {
  const origin = JSON.stringify(given)
  return { ...item, origin, size: Buffer.byteLength(item.input ?? '') + Buffer.byteLength(origin) }
}

/** Ids within the window. Beyond that, the oldest are forgotten early. */
const mostSeen = 1_000_000
/** Rows that one transaction deletes of them. */
const pruned = 10_000

const state = { waiting: 0, running: 1, dead: 2 } as const
const states = Object.keys(state) as (keyof typeof state)[]

/** The items in the file. All changes take place in {@link transaction}. */
export class QueueStore {
  readonly tally = new Tally()
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  #seen: number

  constructor(database: DatabaseSync) {
    this.#database = database
    const groups = 'SELECT target, state, count(*) AS by, sum(size) AS size FROM items GROUP BY target, state'
    for (const { target, state: at, by, size } of this.#all(groups) as unknown as GroupRow[])
      this.tally.add({ target, state: states[at]!, by, size })
    this.tally.commit()
    this.#seen = this.#countSeen()
  }

  /** Returns when everything is on disk. If anything throws, nothing has changed. */
  transaction<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.#database.exec('COMMIT')
      this.tally.commit()
      return result
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      this.tally.rollback()
      this.#seen = this.#countSeen()
      throw error
    }
  }

  /** Throws if no items can be added. `gone`: why, if that is known. */
  check(file: string, gone: Error | undefined): void {
    if (gone !== undefined) throw gone
    try {
      tryWriting(this.#database, file)
    } catch (cause) {
      throw unwritable(file, cause)
    }
  }

  close(): void {
    this.#statements.clear()
    this.#database.close()
  }

  /** False for a duplicate. */
  add({ target, id, until, due, added, input, origin, size }: NewRow): boolean {
    if (until !== undefined && !this.#see(target, id, added, until)) return false
    this.#run(
      'INSERT INTO items (target, id, state, due, attempt, added, size, input, origin) VALUES (?, ?, 0, ?, 0, ?, ?, ?, ?)',
      [target, id, due, added, size, input ?? null, origin],
    )
    this.tally.add({ target, state: 'waiting', by: 1, size })
    return true
  }

  /** Counts the attempts that begin, before they do: also those that nothing survives. */
  claim(target: string, now: number, limit: number): ClaimedItem[] {
    const due = 'SELECT * FROM items WHERE target = ? AND state = 0 AND due <= ? ORDER BY due, number LIMIT ?'
    return (this.#all(due, target, now, limit) as unknown as ItemRow[]).map((row) => {
      const attempt = row.attempt + 1
      this.#run('UPDATE items SET state = 1, attempt = ? WHERE number = ?', [attempt, row.number])
      this.#move(target, 'waiting', 'running')
      return { ...row, attempt, origin: JSON.parse(row.origin) as ItemOrigin }
    })
  }

  /** When the next item of the method may be attempted. Undefined if none waits. */
  nextDue(target: string): number | undefined {
    const [row] = this.#all('SELECT min(due) AS due FROM items WHERE target = ? AND state = 0', target)
    return (row as { due: number | null } | undefined)?.due ?? undefined
  }

  /**
   * The clock was set by `step` milliseconds, and shows `now`. What was due already before a step
   * forward needs no later time. {@link bringUpTo} compares `due` with `added`, so both move.
   */
  follow(step: number, now: number): void {
    const after = step > 0 ? now - step : 0
    this.#run('UPDATE items SET due = due + ?, added = added + ? WHERE state = 0 AND due > ?', [step, step, after])
    this.#run('UPDATE items SET added = added + ? WHERE state = 1', [step])
    this.#run('UPDATE seen SET until = until + ? WHERE until > ?', [step, now - step])
  }

  /** For a clock that was set back while nobody had the file: what has no delay does not wait. */
  bringUpTo(now: number): void {
    this.#run('UPDATE items SET due = ? WHERE state = 0 AND due <= added AND due > ?', [now, now])
  }

  complete({ number, target, size }: ClaimedItem): void {
    this.#run('DELETE FROM items WHERE number = ?', [number])
    this.tally.add({ target, state: 'running', by: -1, size: -size })
  }

  /** Another attempt follows. */
  postpone({ number, target }: Pick<ClaimedItem, 'number' | 'target'>, due: number, why: Reason): void {
    this.#run('UPDATE items SET state = 0, due = ?, code = ?, message = ? WHERE number = ?', [
      due,
      why.code,
      why.message,
      number,
    ])
    this.#move(target, 'running', 'waiting')
  }

  /** Returns how many older dead letters were deleted to make room. */
  bury({ number, target }: Pick<ClaimedItem, 'number' | 'target'>, now: number, why: Reason, keep: number): number {
    this.#run('UPDATE items SET state = 2, due = ?, code = ?, message = ? WHERE number = ?', [
      now,
      why.code,
      why.message,
      number,
    ])
    this.#move(target, 'running', 'dead')
    const beyond = this.tally.dead - keep
    if (beyond <= 0) return 0
    return this.#deleteDead(
      'SELECT number, target, size FROM items WHERE state = 2 ORDER BY due, number LIMIT ?',
      beyond,
    )
  }

  /** The items that ran when the last owner of the file ended. */
  interrupted(): { readonly number: number; readonly target: string; readonly attempt: number }[] {
    return this.#all('SELECT number, target, attempt FROM items WHERE state = 1') as never
  }

  /** Those behind number `after` that are no dead letters, in their order. */
  left(after: number, limit: number): LeftItem[] {
    const rows = this.#all('SELECT * FROM items WHERE state <> 2 AND number > ? ORDER BY number LIMIT ?', after, limit)
    return (rows as unknown as ItemRow[]).map(({ number, target, id, due, added, input, origin }) => {
      const known = { number, target, id, due, added, until: undefined }
      return { ...known, input: input ?? undefined, origin: JSON.parse(origin) as ItemOrigin }
    })
  }

  /** It is elsewhere from now on. */
  leave(number: number): void {
    const left = this.#all('DELETE FROM items WHERE number = ? RETURNING target, state, size', number)
    for (const { target, state: at, size } of left as unknown as ItemRow[])
      this.tally.add({ target, state: states[at]!, by: -1, size: -size })
  }

  deadLetters(limit: number): DeadLetter[] {
    const rows = this.#all('SELECT * FROM items WHERE state = 2 ORDER BY due DESC, number DESC LIMIT ?', limit)
    return (rows as unknown as ItemRow[]).map(({ number, id, target, attempt, added, due, code, message, input }) => {
      const [service, method] = splitTarget(target)
      const known = { number, id, service, method, attempts: attempt, enqueuedAt: added, diedAt: due, input }
      return { ...known, code: code ?? 'INTERNAL', message: message ?? '' }
    })
  }

  /** `number` null: all. */
  changeDead(kind: 'retry' | 'drop', number: number | null, now: number): QueueChange {
    return { count: kind === 'drop' ? this.#drop(number) : this.#revive(number, now), left: 0, reasons: [] }
  }

  /** They begin with their first attempt again. Returns how many. */
  #revive(number: number | null, now: number): number {
    const rows = this.#all('SELECT number, target FROM items WHERE state = 2 AND number = ifnull(?, number)', number)
    for (const { number: one, target } of rows as unknown as ItemRow[]) {
      this.#run('UPDATE items SET state = 0, due = ?, attempt = 0 WHERE number = ?', [now, one])
      this.#move(target, 'dead', 'waiting')
    }
    return rows.length
  }

  #drop(number: number | null): number {
    return this.#deleteDead(
      'SELECT number, target, size FROM items WHERE state = 2 AND number = ifnull(?, number)',
      number,
    )
  }

  /** Forgets ids that are out of the window. */
  prune(now: number): void {
    const old = 'DELETE FROM seen WHERE number IN (SELECT number FROM seen WHERE until <= ? ORDER BY until LIMIT ?)'
    this.#seen -= Number(this.#run(old, [now, pruned]))
    const beyond = Math.min(pruned, this.#seen - mostSeen)
    if (beyond <= 0) return
    const oldest = 'DELETE FROM seen WHERE number IN (SELECT number FROM seen ORDER BY until LIMIT ?)'
    this.#seen -= Number(this.#run(oldest, [beyond]))
  }

  #see(target: string, id: string, now: number, until: number): boolean {
    const [row] = this.#all('SELECT until FROM seen WHERE target = ? AND id = ?', target, id)
    if (row !== undefined && (row as { until: number }).until > now) return false
    if (row === undefined) this.#seen++
    this.#run('INSERT OR REPLACE INTO seen (target, id, until) VALUES (?, ?, ?)', [target, id, until])
    return true
  }

  #deleteDead(select: string, value: SQLInputValue): number {
    const rows = this.#all(select, value) as unknown as ItemRow[]
    for (const { number, target, size } of rows) {
      this.#run('DELETE FROM items WHERE number = ?', [number])
      this.tally.add({ target, state: 'dead', by: -1, size: -size })
    }
    return rows.length
  }

  #move(target: string, from: keyof typeof state, to: keyof typeof state): void {
    this.tally.add({ target, state: from, by: -1, size: 0 })
    this.tally.add({ target, state: to, by: 1, size: 0 })
  }

  #countSeen(): number {
    return (this.#all('SELECT count(*) AS count FROM seen')[0] as { count: number }).count
  }

  #all(sql: string, ...values: SQLInputValue[]): Record<string, unknown>[] {
    return this.#statement(sql).all(...values)
  }

  #run(sql: string, values: readonly SQLInputValue[]): number | bigint {
    return this.#statement(sql).run(...values).changes
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

interface ItemRow extends Omit<ClaimedItem, 'origin'> {
  readonly state: number
  readonly origin: string
  readonly due: number
  readonly code: string | null
  readonly message: string | null
}

interface GroupRow {
  readonly target: string
  readonly state: number
  readonly by: number
  readonly size: number
}
