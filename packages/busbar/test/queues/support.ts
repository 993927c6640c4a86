import { startApp } from '../../src/embed/start-app.ts'
import type { EmbeddedApp, LogLine } from '../../src/embed/embedded-app.ts'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { folderWithBusbar, TestFolder } from '../support/app/test-folder.ts'
import { mail } from './programs/mail/contract.ts'
import { orders } from './programs/orders/contract.ts'

export const programs = new URL('programs', import.meta.url).pathname

/** Short pauses, so that tests need not wait. */
export const quick = { backoff: 1, maxBackoff: 5 }

/** An app whose service `orders` enqueues methods of `mail`. Its folder outlives it. */
export class QueueApp implements AsyncDisposable {
  readonly folder: TestFolder
  readonly lines: string[] = []
  #app: EmbeddedApp | undefined
  #changed = Promise.withResolvers<void>()

  constructor(config: object = { queues: quick }, mailConfig: object = {}) {
    this.folder = new TestFolder()
    this.configure(config, mailConfig)
  }

  static async start(config?: object, mailConfig?: object): Promise<QueueApp> {
    const app = new QueueApp(config, mailConfig)
    await app.start()
    return app
  }

  configure(config: object, mailConfig: object = {}): void {
    this.folder.write('busbar.config.json', configOf(config, mailConfig))
  }

  async start(): Promise<void> {
    this.#app = await startApp(this.folder.path, {
      log: ({ line }: LogLine) => {
        this.lines.push(line)
        this.#changed.resolve()
        this.#changed = Promise.withResolvers()
      },
    })
  }

  get app(): EmbeddedApp {
    return this.#app!
  }

  get mail() {
    return this.app.client(mail)
  }

  get orders() {
    return this.app.client(orders)
  }

  /** The items of the methods of `mail`. */
  get counts() {
    return this.app.status().services.find(({ service }) => service === 'mail')!.queue
  }

  logged(text: string | RegExp): string[] {
    return this.lines.filter((line) => (typeof text === 'string' ? line.includes(text) : text.test(line)))
  }

  async untilLogged(text: string | RegExp, count = 1): Promise<string[]> {
    while (this.logged(text).length < count) await this.#changed.promise
    return this.logged(text)
  }

  async stop(): Promise<void> {
    await this.#app?.stop()
    this.#app = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    this.folder[Symbol.dispose]()
  }
}

/** The same app as a process, which can be killed and started again. */
export class QueueProcess implements AsyncDisposable {
  readonly folder: TestFolder
  #busbar: BusbarProcess | undefined
  #output = ''

  constructor(config: object = { queues: quick }, mailConfig: object = {}) {
    this.folder = folderWithBusbar({ 'busbar.config.json': configOf(config, mailConfig) })
  }

  get busbar(): BusbarProcess {
    return this.#busbar!
  }

  /** The log of all runs. */
  get output(): string {
    return this.#output + this.busbar.stdout
  }

  /** Without the process that restarts it. */
  async start(): Promise<string> {
    this.#output += this.#busbar?.stdout ?? ''
    this.#busbar = new BusbarProcess(['start', this.folder.path, '--once'], { env: this.#env })
    return await this.busbar.url()
  }

  /** Resolves to the answer. */
  async enqueue(method: string, input?: unknown, id?: string): Promise<{ id: string; duplicate: boolean }> {
    const response = await fetch(new URL('/orders/enqueue', await this.busbar.url()), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ method, input, id }),
    })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as { id: string; duplicate: boolean }
  }

  /** `busbar queue`. */
  async queue(...words: string[]) {
    return await BusbarProcess.run(['queue', ...words, '--app', this.folder.path], { env: this.#env })
  }

  /** `busbar check --live`. */
  async checkLive() {
    return await BusbarProcess.run(['check', '--live', this.folder.path], { env: this.#env })
  }

  async kill(): Promise<void> {
    this.busbar.child.kill('SIGKILL')
    await this.busbar.ended
  }

  async stop(): Promise<number | null> {
    this.busbar.child.kill('SIGTERM')
    return (await this.busbar.ended).code
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#busbar?.[Symbol.asyncDispose]()
    this.folder[Symbol.dispose]()
  }

  get #env(): NodeJS.ProcessEnv {
    return { XDG_STATE_HOME: this.folder.at('state'), XDG_RUNTIME_DIR: this.folder.at('run') }
  }
}

function configOf(config: object, mailConfig: object): object {
  return {
    gateway: { port: 0, routes: { '/orders': 'orders' } },
    services: { orders: `${programs}/orders`, mail: { path: `${programs}/mail`, ...mailConfig } },
    ...config,
  }
}
