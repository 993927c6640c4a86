import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { findSockets } from '../../../src/supervisor/admin/admin-socket.ts'
import { type AppSetup, TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

/** An app whose metrics the test scrapes. */
export class ScrapedApp implements AsyncDisposable {
  readonly app: TestApp
  readonly #folder: TestFolder

  private constructor(app: TestApp, folder: TestFolder) {
    this.app = app
    this.#folder = folder
  }

  static async start(setup: AppSetup): Promise<ScrapedApp> {
    const folder = new TestFolder()
    return new ScrapedApp(await TestApp.start(setup, { adminFolder: folder.path }), folder)
  }

  async get(path = '/'): Promise<string> {
    return await (await fetch(new URL(path, this.app.url))).text()
  }

  async scrape(accept = ''): Promise<string> {
    const { path } = findSockets(this.#folder.path, this.app.running.app.root)[0]!
    return await new Promise((resolve, reject) => {
      request({ socketPath: path, path: '/metrics', headers: { accept } }, (response) => resolve(text(response)))
        .on('error', reject)
        .end()
    })
  }

  /** Workers report once a second. */
  async scrapeWhen(...lines: readonly string[]): Promise<string> {
    const limit = performance.now() + 60_000
    for (;;) {
      const found = await this.scrape()
      const missing = lines.filter((line) => !found.split('\n').includes(line))
      if (missing.length === 0) return found
      if (performance.now() > limit) assert.fail(`not within a minute: ${missing.join('\n')}\n${found}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}
