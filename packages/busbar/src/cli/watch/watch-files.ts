import { type FSWatcher, watch } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'

export interface WatchOptions {
  /** Folders that are watched recursively. */
  readonly folders: readonly string[]
  /** Single files, which may not exist yet. */
  readonly files: readonly string[]
  /** Receives the changed paths after `quiet` milliseconds without a change. */
  readonly changed: (paths: readonly string[]) => void
  /** Default: 100. */
  readonly quiet?: number
  /**
   * The most folders that are watched. Default: 2,000, because all programs share the system's
   * limit.
   */
  readonly most?: number
}

/** `limit`: more folders than `most`, or than the system permits. */
export type Unseen = 'limit' | 'permission'

export interface Watching {
  /** Why changes in some of the folders are not seen. */
  readonly unseen: ReadonlySet<Unseen>
  close(): void
}

/** Folders that builds and installations write. They are watched only if the options name them. */
const ignoredFolders = new Set(['node_modules', 'dist', 'coverage'])

/** Hidden files, logs, and the temporary files of editors. */
const ignoredNames = /^\.|~$|\.sw[a-z]$|\.log$|^4913$/

/**
 * Watches each folder by itself: `recursive` would include `node_modules` on Linux. Resolves when
 * all folders are watched, so that no later change is missed.
 */
export async function watchFiles(options: WatchOptions): Promise<Watching> {
  const watcher = new Watcher(options)
  await watcher.open()
  return watcher
}

class Watcher implements Watching {
  readonly unseen = new Set<Unseen>()
  readonly #options: WatchOptions
  readonly #singles: ReadonlyMap<string, ReadonlySet<string>>
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #trees = new Set<string>()
  readonly #changed = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: WatchOptions) {
    this.#options = options
    const byFolder = Map.groupBy(options.files, (file) => dirname(file))
    this.#singles = new Map(
      [...byFolder].map(([folder, files]) => [folder, new Set(files.map((file) => basename(file)))]),
    )
  }

  async open(): Promise<void> {
    await Promise.all(this.#options.folders.map((folder) => this.#addTree(folder)))
    for (const folder of this.#singles.keys()) this.#add(folder)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  async #addTree(folder: string): Promise<void> {
    if (this.#trees.has(folder)) return
    this.#trees.add(folder)
    this.#add(folder)
    // The folder may have been deleted meanwhile.
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    const below = entries.filter((entry) => entry.isDirectory() && !isIgnored(entry.name))
    await Promise.all(below.map((entry) => this.#addTree(join(folder, entry.name))))
  }

  #add(folder: string): void {
    if (this.#closed || this.#watchers.has(folder)) return
    if (this.#watchers.size >= (this.#options.most ?? 2000)) {
      this.unseen.add('limit')
      return
    }
    try {
      const watcher = watch(folder, (_event, name) => this.#note(folder, name))
      watcher.on('error', () => watcher.close())
      this.#watchers.set(folder, watcher)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EACCES' || code === 'EPERM') this.unseen.add('permission')
      // Else the system's limit is reached, or the folder was deleted meanwhile.
      else if (code !== 'ENOENT') this.unseen.add('limit')
    }
  }

  #removeTree(folder: string): void {
    for (const path of [...this.#trees, folder].filter((path) => path === folder || path.startsWith(folder + sep))) {
      this.#trees.delete(path)
      this.#watchers.get(path)?.close()
      this.#watchers.delete(path)
    }
  }

  /** `name` is null on systems that do not report it. */
  #note(folder: string, name: string | null): void {
    if (name !== null && !this.#isWanted(folder, name)) return
    this.#changed.add(name === null ? folder : join(folder, name))
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#report(), this.#options.quiet ?? 100)
  }

  #isWanted(folder: string, name: string): boolean {
    return this.#singles.get(folder)?.has(name) === true || (this.#trees.has(folder) && !isIgnored(name))
  }

  #report(): void {
    const paths = [...this.#changed]
    this.#changed.clear()
    void Promise.all(paths.map((path) => this.#follow(path))).then(() => {
      if (!this.#closed) this.#options.changed(paths)
    })
  }

  /** A changed path may be a new or recreated folder, which needs a new watch. Never rejects. */
  async #follow(path: string): Promise<void> {
    const isFolder = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    )
    this.#removeTree(path)
    if (isFolder && !this.#closed) await this.#addTree(path)
  }
}

function isIgnored(name: string): boolean {
  return ignoredFolders.has(name) || ignoredNames.test(name)
}
