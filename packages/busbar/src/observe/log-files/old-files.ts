import { createReadStream, existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { LogFiles } from '../../config/app.ts'

/** Milliseconds. Another process of the app may write to a rotated file until it looks again. */
const rest = 2000
/** Milliseconds after which an unfinished copy was left behind by a process that was killed. */
const abandonedAfter = 60_000

const plainName = /^app-[\dTZ-]+\.log$/
const anyName = /^app-[\dTZ-]+\.log(?:\.gz)?$/
const unfinishedName = /^app-[\dTZ-]+\.log\.gz\.part$/

/** The rotated files of a folder: compresses them, and deletes the oldest beyond the bound. */
export class OldFiles {
  readonly #settings: LogFiles
  readonly #closed = new AbortController()
  #working: Promise<void> | undefined
  /** Whether there is more to do after the present work. */
  #again = false

  constructor(settings: LogFiles) {
    this.#settings = settings
    this.tidy()
  }

  /** The path for a file that is rotated now. Names sort by time. */
  nextPath(): string {
    for (let time = Date.now(); ; time++) {
      const path = this.#at(`app-${new Date(time).toISOString().replaceAll(/[:.]/g, '-')}.log`)
      if (!existsSync(path) && !existsSync(`${path}.gz`)) return path
    }
  }

  /** Deletes at once what is beyond the bound; compresses later. Never throws. */
  tidy(): void {
    this.#deleteOldest()
    if (!this.#settings.compress || this.#closed.signal.aborted) return
    this.#again = true
    this.#working ??= this.#work().finally(() => (this.#working = undefined))
  }

  /** Interrupts a compression; the next run continues it. */
  async close(): Promise<void> {
    this.#closed.abort()
    await this.#working
  }

  async #work(): Promise<void> {
    const { signal } = this.#closed
    try {
      for (const name of this.#list(unfinishedName))
        if (this.#age(name) > abandonedAfter) await rm(this.#at(name), { force: true })
      while (this.#again) {
        this.#again = false
        if (this.#list(plainName).length === 0) return
        await sleep(rest, undefined, { signal, ref: false })
        for (const name of this.#list(plainName)) {
          if (this.#age(name) < rest) this.#again = true
          else await this.#compress(this.#at(name), signal)
        }
      }
    } catch {
      // Stopped, or the folder cannot be written: the files stay as they are until the next
      // rotation.
    }
  }

  async #compress(path: string, signal: AbortSignal): Promise<void> {
    const part = `${path}.gz.part`
    // Another process that compresses this file has created it.
    const copy = await open(part, 'wx', 0o600)
    try {
      await pipeline(createReadStream(path), createGzip(), copy.createWriteStream(), { signal })
      await rename(part, `${path}.gz`)
      await rm(path, { force: true })
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }

  /** Milliseconds since it was written; Infinity if it has gone. */
  #age(name: string): number {
    const written = statSync(this.#at(name), { throwIfNoEntry: false })?.mtimeMs
    return written === undefined ? Infinity : Date.now() - written
  }

  /** Leaves room for one `app.log`, and for one copy that is being compressed. */
  #deleteOldest(): void {
    const { maxTotal, maxSize, compress } = this.#settings
    let room = maxTotal - maxSize * (compress ? 2 : 1)
    for (const name of this.#list(anyName).toSorted().toReversed()) {
      const path = this.#at(name)
      room -= statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (room < 0) remove(path)
    }
  }

  #list(pattern: RegExp): string[] {
    try {
      return readdirSync(this.#settings.folder).filter((name) => pattern.test(name))
    } catch {
      return []
    }
  }

  #at(name: string): string {
    return join(this.#settings.folder, name)
  }
}

/** A file that cannot be deleted must not keep the log from being written. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The next rotation tries again.
  }
}
