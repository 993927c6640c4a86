import type { EventEmitter } from 'node:events'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'

const require = createRequire(import.meta.url)

/**
 * The parts of a program's undici that tests use. They are the same in 6, 7 and 8, though their
 * types differ.
 */
export interface Undici {
  request: (url: unknown, options?: unknown, callback?: unknown) => Promise<Answer>
  stream(url: unknown, options: unknown, factory: (head: Answer) => NodeJS.WritableStream): Promise<unknown>
  pipeline(url: unknown, options: unknown, handler: (head: Answer) => NodeJS.ReadableStream): NodeJS.ReadWriteStream
  fetch: typeof globalThis.fetch
  FormData: typeof globalThis.FormData
  Agent: new (options?: object) => UndiciDispatcher
  MockAgent: new () => UndiciDispatcher & { disableNetConnect(): void; get(origin: string): MockPool }
  setGlobalDispatcher(dispatcher: UndiciDispatcher): void
  getGlobalDispatcher(): UndiciDispatcher
  interceptors: { retry(): unknown; dump(): unknown; redirect(): unknown }
  errors: Record<string, new () => Error>
}

export interface UndiciDispatcher extends EventEmitter {
  readonly closed: boolean
  readonly destroyed: boolean
  /** Since version 7. */
  readonly stats?: object
  destroy(error?: Error): Promise<void>
  dispatch(options: object, handler: object): boolean
  request(options: object): Promise<Answer>
  compose(...interceptors: unknown[]): UndiciDispatcher
  close(): Promise<void>
}

interface MockPool {
  intercept(options: object): { reply(status: number, body: string): void }
}

export interface Answer {
  readonly statusCode: number
  readonly statusText?: string
  readonly headers: Record<string, string | string[]>
  readonly trailers: Record<string, string>
  readonly opaque: unknown
  readonly context: unknown
  readonly body: AnswerBody
}

export interface AnswerBody extends Readable {
  text(): Promise<string>
  json(): Promise<unknown>
  arrayBuffer(): Promise<ArrayBuffer>
  bytes(): Promise<Uint8Array>
  blob(): Promise<Blob>
  formData(): Promise<FormData>
  dump(options?: object): Promise<unknown>
  destroy(error?: Error): this
  readonly bodyUsed: boolean
  readonly body: ReadableStream<Uint8Array>
  readonly destroyed: boolean
  readonly readableEnded: boolean
}

export const versions = ['undici6', 'undici7', 'undici8'] as const

export type Version = (typeof versions)[number]

/** The copy in this repository's `node_modules`. */
export function loadInstalled(version: Version | 'undici5'): Undici {
  return require(version) as Undici
}

/** A program's folder with its own copy of undici. Disposing removes it. */
export class ProgramFolder implements Disposable {
  readonly #folder: string

  constructor(version: Version) {
    this.#folder = mkdtempSync(join(tmpdir(), 'busbar-undici-'))
    const source = dirname(require.resolve(`${version}/package.json`))
    cpSync(source, join(this.#folder, 'node_modules', 'undici'), { recursive: true })
    writeFileSync(
      join(this.#folder, 'esm.mjs'),
      `import * as all from 'undici'\nimport { request } from 'undici'\nexport { all, request }\n`,
    )
  }

  load(): Undici {
    return createRequire(join(this.#folder, 'program.js'))('undici') as Undici
  }

  /** As an ES module sees it: named exports and namespace. */
  async import(): Promise<{ all: Undici; request: Undici['request'] }> {
    return (await import(pathToFileURL(join(this.#folder, 'esm.mjs')).href)) as {
      all: Undici
      request: Undici['request']
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true })
  }
}
