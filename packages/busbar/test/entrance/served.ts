import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import type { HostData } from '../../../../scripts/entrance/host.ts'
import { loadEntrance } from '../../src/entrance/load.ts'
import type { EntranceLimits, NativeEntrance } from '../../src/shared/entrance/entrance.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const names = { darwin: 'libbusbar_entrance.dylib', win32: 'busbar_entrance.dll' } as Record<string, string>
const host = new URL('../../../../scripts/entrance/host.ts', import.meta.url)

/** As `cargo build --release -p busbar-entrance` leaves it; undefined where nobody has. */
export const builtAddon = ['release', 'debug']
  .map((profile) => `target/${profile}/${names[process.platform] ?? 'libbusbar_entrance.so'}`)
  .map((file) => `${import.meta.dirname}/../../../../${file}`)
  .find((file) => existsSync(file))

export interface ServedOptions {
  /** The file of another build. */
  readonly addon?: string
  readonly workers?: number
  readonly bridge?: HostData['bridge']
  readonly limits?: EntranceLimits
}

/** `programs/behaviours.mjs` behind an entrance. */
export class Served implements AsyncDisposable {
  readonly native: NativeEntrance
  readonly workers: Worker[] = []
  port = 0
  readonly #addon: string
  readonly #bridge: HostData['bridge']
  readonly #folder = new TestFolder()

  private constructor({ addon = builtAddon!, bridge = 'duplex', limits = {} }: ServedOptions) {
    this.native = new (loadEntrance(addon).NativeEntrance)(limits)
    this.#addon = addon
    this.#bridge = bridge
  }

  static async start(options: ServedOptions = {}): Promise<Served> {
    const served = new Served(options)
    for (let n = 0; n < (options.workers ?? 1); n++) await served.addWorker()
    served.port = served.native.listen('127.0.0.1', 0).port
    return served
  }

  async addWorker(): Promise<Worker> {
    const program = `${import.meta.dirname}/programs/behaviours.mjs`
    const workerData: HostData = {
      addon: this.#addon,
      entrance: this.native.id,
      program,
      bridge: this.#bridge,
      folder: this.#folder.path,
    }
    const worker = new Worker(host, { workerData })
    this.workers.push(worker)
    await new Promise((resolve) => worker.once('message', resolve))
    return worker
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`
  }

  async text(path: string, init?: RequestInit): Promise<string> {
    const response = await fetch(this.url(path), init)
    return await response.text()
  }

  /** A connection that keeps what it gets. */
  connect(): Client {
    return new Client(this.port)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.native.unlisten()
    this.native.cut()
    await Promise.all(this.workers.map((worker) => worker.terminate()))
    this.native.close()
    this.#folder[Symbol.dispose]()
  }
}

export class Client {
  readonly socket: Socket
  bytes = ''
  readonly closed: Promise<void>

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    this.socket.setEncoding('latin1').on('data', (text: string) => (this.bytes += text))
    this.socket.on('error', () => {}).on('end', () => this.socket.end())
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()))
  }

  send(text: string): this {
    this.socket.write(text, 'latin1')
    return this
  }

  /** Waits until what it got has this in it. */
  async until(text: string): Promise<void> {
    while (!this.bytes.includes(text)) {
      if (this.socket.destroyed) throw new Error(`closed before ${JSON.stringify(text)}: ${this.bytes}`)
      await this.#changed()
    }
  }

  /** Resolves when data has arrived or the socket has closed. */
  #changed(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.socket.off('data', done).off('close', done)
        resolve()
      }
      this.socket.on('data', done).on('close', done)
    })
  }
}

export function get(path: string, fields = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`
}

/** Asks until it is so. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000
  while (!(await holds())) {
    if (Date.now() > end) throw new Error('it has not come to pass')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
