import assert from 'node:assert/strict'
import type { LeftOut, MappedKey, ServiceConfig, UnmappedKey } from '../../src/adopt/imported.ts'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { type Files, folderWithBusbar, type TestFolder } from '../support/app/test-folder.ts'

export interface ImportReport {
  readonly ok: boolean
  readonly kind: string
  readonly file: string | null
  readonly config: {
    readonly gateway?: Readonly<Record<string, unknown>>
    readonly services: Readonly<Record<string, string | ServiceConfig>>
  } & Readonly<Record<string, unknown>>
  readonly text: string
  readonly mapped: readonly MappedKey[]
  readonly unmapped: readonly UnmappedKey[]
  readonly leftOut: readonly LeftOut[]
}

/** A folder with another tool's file, and the config that `busbar import --write` made of it. */
export class ImportedApp implements Disposable {
  readonly folder: TestFolder
  readonly report: ImportReport

  constructor(folder: TestFolder, report: ImportReport) {
    this.folder = folder
    this.report = report
  }

  /** `source`: the file, if the folder has several. */
  static async from(files: Files, source = '.'): Promise<ImportedApp> {
    const folder = folderWithBusbar(files)
    const { code, stdout, stderr } = await BusbarProcess.run(['import', source, '--write', '--json'], {
      cwd: folder.path,
    })
    assert.equal(code, 0, `${stdout}\n${stderr}`)
    return new ImportedApp(folder, JSON.parse(stdout) as ImportReport)
  }

  /** Starts the written config, without changes. */
  start(args: readonly string[] = []): BusbarProcess {
    return new BusbarProcess(['start', this.folder.path, '--once', ...args], { env: { PORT: undefined } })
  }

  service(name: string): ServiceConfig {
    const found = this.report.config.services[name]
    assert.ok(found !== undefined, `${name} is none of ${Object.keys(this.report.config.services).join(', ')}`)
    return typeof found === 'string' ? { path: found } : found
  }

  /** What the key became. */
  target(from: string): string | undefined {
    return this.report.mapped.find((one) => one.from === from)?.to
  }

  /** Why the key is not mapped. */
  reason(from: string): string | undefined {
    return this.report.unmapped.find((one) => one.from === from)?.why
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]()
  }
}

/** A program that answers with `text`, an expression. It listens on PORT, else on `port`. */
export function server(text: string, port = 3000): string {
  return `require('node:http').createServer((request, response) => response.end(String(${text}))).listen(process.env.PORT || ${port})`
}

export async function textAt(url: string): Promise<string> {
  const response = await fetch(url)
  return await response.text()
}
