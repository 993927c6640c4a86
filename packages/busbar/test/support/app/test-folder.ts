import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Files by path. An object is written as JSON. */
export type Files = Readonly<Record<string, string | object>>

/** A temporary folder, deleted at the end of its scope. */
export class TestFolder implements Disposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'busbar-test-')))

  constructor(files: Files = {}) {
    for (const [name, content] of Object.entries(files)) this.write(name, content)
  }

  write(name: string, content: string | object): void {
    const file = join(this.path, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), 'utf8')
  }

  at(...names: string[]): string {
    return join(this.path, ...names)
  }

  /** Removes all permissions of a file. Root can still read it. */
  forbid(name: string): void {
    chmodSync(this.at(name), 0)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** A folder whose files can import `busbar/contract` and the like. */
export function folderWithBusbar(files: Files): TestFolder {
  const folder = new TestFolder({ 'node_modules/.keep': '', ...files })
  symlinkSync(join(import.meta.dirname, '..', '..', '..'), folder.at('node_modules', 'busbar'))
  return folder
}
