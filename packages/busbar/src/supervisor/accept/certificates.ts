import { createPrivateKey, getRandomValues, X509Certificate } from 'node:crypto'
import { type FSWatcher, watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createSecureContext } from 'node:tls'
import { BusbarError } from '../../contract/errors.ts'
import type { TlsFiles } from '../../config/app.ts'
import type { TlsMaterial } from '../../shared/control.ts'

export interface CertificateEvents {
  changed(tls: TlsMaterial): void
  /** The new files are no good; what was read before stays in use. */
  refused(error: BusbarError): void
}

/** Long enough for a tool to write both files. */
const settleTime = 100

/** The gateway's certificate and key: read, checked, and read again when they change. */
export class Certificates {
  readonly #files: TlsFiles
  #current: TlsMaterial
  #refused = ''
  #watchers: FSWatcher[] = []
  #poll: NodeJS.Timeout | undefined
  #settle: NodeJS.Timeout | undefined

  private constructor(files: TlsFiles, current: TlsMaterial) {
    this.#files = files
    this.#current = current
  }

  /** Rejects with TLS_FILE_UNREADABLE or TLS_FILE_INVALID. */
  static async read(files: TlsFiles): Promise<Certificates> {
    const ticketKeys = getRandomValues(new Uint8Array(48))
    return new Certificates(files, { ...(await readPair(files)), ticketKeys })
  }

  get current(): TlsMaterial {
    return this.#current
  }

  /**
   * Folders are watched, not files, so that a rename or a symbolic link put in a file's place is seen (certbot,
   * Kubernetes secrets); and the files are read every `interval` milliseconds, since a link further up may change
   * and not every file system tells.
   */
  watch(interval: number, events: CertificateEvents): void {
    const check = (): void => void this.#check(events)
    const soon = (): void => {
      clearTimeout(this.#settle)
      this.#settle = setTimeout(check, settleTime)
    }
    for (const folder of new Set([dirname(this.#files.cert), dirname(this.#files.key)])) {
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

  async #check(events: CertificateEvents): Promise<void> {
    try {
      const pair = await readPair(this.#files)
      this.#refused = ''
      if (pair.cert === this.#current.cert && pair.key === this.#current.key) return
      this.#current = { ...this.#current, ...pair }
      events.changed(this.#current)
    } catch (thrown) {
      const error = BusbarError.from(thrown)
      // The same fault is told once, not at every look.
      if (error.message === this.#refused) return
      this.#refused = error.message
      events.refused(error)
    }
  }
}

async function readPair(files: TlsFiles): Promise<{ cert: string; key: string }> {
  const [cert, key] = await Promise.all([readPem(files.cert, 'cert'), readPem(files.key, 'key')])
  if (!usable(files, () => new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))))
    throw invalid(files, 'do not belong together')
  usable(files, () => createSecureContext({ cert, key, minVersion: 'TLSv1.2' }))
  return { cert, key }
}

function usable<T>(files: TlsFiles, use: () => T): T {
  try {
    return use()
  } catch (cause) {
    throw invalid(files, `cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  }
}

async function readPem(file: string, key: keyof TlsFiles): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new BusbarError('TLS_FILE_UNREADABLE', {
      message: `cannot read ${file} (gateway.tls.${key}): ${(cause as NodeJS.ErrnoException).code}`,
      hint: 'the path is relative to the config; this user must be allowed to read the file',
      cause,
    })
  }
}

function invalid(files: TlsFiles, why: string, cause?: unknown): BusbarError {
  return new BusbarError('TLS_FILE_INVALID', {
    message: `${files.cert} and ${files.key} (gateway.tls) ${why}`,
    hint: 'both must be PEM: the certificate with its chain, and its private key without a passphrase',
    cause,
  })
}
