import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system of its own in a temporary folder; gone at the end of its scope. */
export class SmallDisk implements Disposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'busbar-full-')))

  /** `size`: as `mount` has it, such as `4m`. */
  constructor(size: string) {
    this.#mount(`size=${size}`)
  }

  /** Only administrators can mount one: the reason to skip a test, or false. */
  static skip(): string | false {
    try {
      new SmallDisk('1m')[Symbol.dispose]()
      return false
    } catch {
      return 'no file system can be mounted here'
    }
  }

  /** Writes a file until nothing more fits. */
  fill(name: string): void {
    for (const size of [4096, 1])
      try {
        for (;;) appendFileSync(this.at(name), new Uint8Array(size))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
  }

  grow(size: string): void {
    this.#mount(`remount,size=${size}`)
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path)
    return bavail * bsize
  }

  /** The files of this disk that processes have open, once for each descriptor. */
  get openFiles(): string[] {
    const descriptors = entriesOf('/proc')
      .filter((pid) => /^\d+$/.test(pid))
      .flatMap((pid) => entriesOf(`/proc/${pid}/fd`).map((number) => `/proc/${pid}/fd/${number}`))
    return descriptors.flatMap((path) => targetOf(path) ?? []).filter((target) => target.startsWith(`${this.path}/`))
  }

  at(name: string): string {
    return join(this.path, name)
  }

  [Symbol.dispose](): void {
    spawnSync('umount', [this.path])
    rmSync(this.path, { recursive: true, force: true })
  }

  #mount(options: string): void {
    const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', this.path], {
      encoding: 'utf8',
    })
    if (status === 0) return
    rmSync(this.path, { recursive: true, force: true })
    throw new Error(`mount: ${stderr}`)
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Undefined if the process has closed it, or has ended. */
function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch {
    return undefined
  }
}
