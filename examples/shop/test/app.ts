import { join } from 'node:path'
import { BusbarProcess } from '../../../packages/busbar/test/support/busbar-process.ts'
import { TestFolder } from '../../../packages/busbar/test/support/folder.ts'

/** The shop on a port and a database of its own. */
export class Shop implements AsyncDisposable {
  readonly database: string
  readonly #folder = new TestFolder()
  #busbar: BusbarProcess | undefined

  private constructor() {
    this.database = this.#folder.at('data', 'shop.db')
  }

  static async open({ workers = 1 }: { workers?: number } = {}): Promise<Shop> {
    const shop = new Shop()
    await shop.start(workers)
    return shop
  }

  async start(workers = 1): Promise<void> {
    const folder = join(import.meta.dirname, '..')
    const args = ['start', folder, '--port', '0', '--workers', String(workers)]
    this.#busbar = new BusbarProcess(args, { env: { SHOP_DATABASE: this.database } })
    await this.#busbar.url()
  }

  async stop(): Promise<void> {
    this.#busbar?.child.kill('SIGTERM')
    await this.#busbar?.ended
  }

  async url(): Promise<string> {
    return await this.#busbar!.url()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#busbar?.[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}
