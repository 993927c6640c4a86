/** An app as a process of its own, whose dashboard is open by `busbar start --open`. */
import { readFileSync } from 'node:fs'
import type { AppStatus } from '../../../src/observe/app-status.ts'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

export class AppProcess implements AsyncDisposable {
  readonly busbar: BusbarProcess
  /** Of the dashboard, with the token. */
  readonly page: string
  readonly #address: string
  readonly #token: string
  readonly #folder: TestFolder

  private constructor(folder: TestFolder, busbar: BusbarProcess, address: string, token: string) {
    this.busbar = busbar
    this.page = `${address}/#token=${token}`
    this.#address = address
    this.#token = token
    this.#folder = folder
  }

  /** `name`: of the app, which has one program. */
  static async start(name: string): Promise<AppProcess> {
    const folder = new TestFolder({
      'index.js': `require('node:http').createServer((_, response) => response.end('ok')).listen(3000)`,
      'package.json': { name },
    })
    const busbar = new BusbarProcess(['start', folder.path, '--port', '0', '--open'])
    const file = String((await busbar.event(({ dashboard }) => dashboard !== undefined))['dashboard'])
    const [, address, token] = /url=(http:\/\/[^/]+)\/#token=([\w-]+)"/.exec(readFileSync(file, 'utf8'))!
    return new AppProcess(folder, busbar, address!, token!)
  }

  async status(): Promise<AppStatus['app']> {
    const headers = { authorization: `Bearer ${this.#token}` }
    const response = await fetch(`${this.#address}/status`, { headers })
    return ((await response.json()) as AppStatus).app
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.busbar[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}
