import { join } from 'node:path'
import { startApp, type EmbeddedApp } from 'busbar'
import { TestFolder } from '../../../packages/busbar/test/support/app/test-folder.ts'

/** The shop with its own port and database. */
export class Shop implements AsyncDisposable {
  readonly database: string
  readonly #folder = new TestFolder()
  #app: EmbeddedApp | undefined

  private constructor() {
    this.database = this.#folder.at('data', 'shop.db')
  }

  static async open({ workers = 1 }: { workers?: number } = {}): Promise<Shop> {
    const shop = new Shop()
    await shop.start(workers)
    return shop
  }

  async start(workers = 1): Promise<void> {
    // Services inherit the environment of the process that starts them.
    process.env['SHOP_DATABASE'] = this.database
    this.#app = await startApp(join(import.meta.dirname, '..'), { port: 0, workers })
  }

  async stop(): Promise<void> {
    await this.#app?.stop()
  }

  get url(): string {
    return this.#app!.url
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    this.#folder[Symbol.dispose]()
  }
}
