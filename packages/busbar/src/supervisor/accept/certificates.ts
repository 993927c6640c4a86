import { type FSWatcher, watch } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { BusbarError } from '../../contract/errors.ts'

export interface CertificateEvents<T> {
  /** Throws if it cannot use them. */
  changed(material: T): void
  /** The new files are unusable; the previous ones stay in use. */
  refused(error: BusbarError): void
}

/** What the supervisor does when the files have changed. */
export function reportedEvents<T>(parts: {
  readonly apply: (material: T) => void
  readonly log: (level: 'info' | 'error', line: string) => void
  readonly outcome: (outcome: 'reloaded' | 'refused') => void
}): CertificateEvents<T> {
  const { apply, log, outcome } = parts
  return {
    changed(material) {
      apply(material)
      log('info', 'the new certificate is in use')
      outcome('reloaded')
    },
    refused(error) {
      const why = [error.message, error.hint].filter(Boolean).join('. ')
      log('error', `the new certificate is refused, and the previous one stays in use: ${why}`)
      outcome('refused')
    },
  }
}

/** Milliseconds; long enough for a tool to write both files. */
const settleTime = 100

export interface CertificateSource<T> {
  /** Absolute paths. */
  readonly files: readonly string[]
  /** Reads and validates all of them. Rejects with TLS_FILE_UNREADABLE or TLS_FILE_INVALID. */
  readonly read: (previous: T | undefined) => Promise<T>
}

/**
 * Certificates, keys and authorities. All files are read and validated at the start and after each
 * change. One broken file keeps all as they are.
 */
export class Certificates<T> {
  readonly #source: CertificateSource<T>
  #current: T
  /** The last fault that was reported. */
  #refused = ''
  #watchers: FSWatcher[] = []
  #poll: NodeJS.Timeout | undefined
  #settle: NodeJS.Timeout | undefined

  private constructor(source: CertificateSource<T>, current: T) {
    this.#source = source
    this.#current = current
  }

  /** Rejects as the source does. */
  static async read<T>(source: CertificateSource<T>): Promise<Certificates<T>> {
    return new Certificates(source, await source.read(undefined))
  }

  get current(): T {
    return this.#current
  }

  /**
   * Watches the folders, not the files, to see a rename or a replaced symbolic link (certbot,
   * Kubernetes secrets). Also reads the files every `interval` milliseconds: a link further up may
   * change, and not every file system has events.
   */
  watch(interval: number, events: CertificateEvents<T>): void {
    const check = (): void => void this.#check(events)
    const soon = (): void => {
      clearTimeout(this.#settle)
      this.#settle = setTimeout(check, settleTime)
    }
    for (const folder of new Set(this.#source.files.map((file) => dirname(file)))) {
      const watcher = watch(folder, { persistent: false }, soon)
      this.#watchers.push(watcher.on('error', () => watcher.close()))
    }
    this.#poll = setInterval(check, interval).unref()
  }

  close(): void {
    clearTimeout(this.#settle)
    clearInterval(this.#poll)
    for (const watcher of this.#watchers) watcher.close()
  }

  async #check(events: CertificateEvents<T>): Promise<void> {
    try {
      const next = await this.#source.read(this.#current)
      this.#refused = ''
      if (isDeepStrictEqual(next, this.#current)) return
      events.changed(next)
      this.#current = next
    } catch (thrown) {
      const error = BusbarError.from(thrown)
      // The same fault is reported once, not at every check.
      if (error.message === this.#refused) return
      this.#refused = error.message
      events.refused(error)
    }
  }
}
