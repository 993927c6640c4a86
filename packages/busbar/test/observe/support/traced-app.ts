import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import type * as z from 'zod'
import type { App } from '../../../src/config/app.ts'
import { findSockets } from '../../../src/supervisor/admin/admin-socket.ts'
import { AdminClient } from '../../../src/supervisor/admin/api-client.ts'
import { getTrace, listTraces } from '../../../src/supervisor/admin/operations/traces.ts'
import type { RunningApp } from '../../../src/supervisor/running-app.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

export type Trace = z.output<typeof getTrace.output>
export type Hop = Trace['calls'][number]

/** An app whose traces the test reads as a client of the admin API. */
export class TracedApp implements AsyncDisposable {
  readonly admin: AdminClient
  readonly #app: TestApp
  readonly #folder: TestFolder

  private constructor(app: TestApp, folder: TestFolder) {
    this.#app = app
    this.#folder = folder
    this.admin = new AdminClient(findSockets(folder.path, app.running.app.root)[0]!.path)
  }

  static async start(app: App): Promise<TracedApp> {
    const folder = new TestFolder()
    return new TracedApp(await TestApp.startLoaded(app, { adminFolder: folder.path }), folder)
  }

  get url(): string {
    return this.#app.url
  }

  get running(): RunningApp {
    return this.#app.running
  }

  /** What a scraper reads. */
  async metrics(accept = 'text/plain'): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const { socketPath } = this.admin
    const headers = { accept, connection: 'close' }
    request({ socketPath, path: '/metrics', headers }, (response) => resolve(text(response)))
      .once('error', reject)
      .end()
    return await promise
  }

  /** The latest first. */
  async traces(): Promise<Trace[]> {
    const { traces } = await this.admin.json(listTraces, { limit: 1000 })
    const found: Trace[] = []
    // Not all at once: the socket's queue of connections has a limit.
    for (const { id } of traces) found.push(await this.admin.json(getTrace, { id }))
    return found
  }

  /** Workers send their spans in batches. */
  async tracesWhen(isComplete: (traces: readonly Trace[]) => boolean): Promise<Trace[]> {
    const limit = performance.now() + 60_000
    for (;;) {
      const traces = await this.traces()
      if (isComplete(traces)) return traces
      if (performance.now() > limit) throw new Error(`not within a minute: ${inspect(traces, { depth: 5 })}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** The trace with so many calls, when both sides of each are known. */
  async traceWhen(id: string, count: number): Promise<Trace> {
    const isComplete = ({ calls }: Trace): boolean => calls.length === count && calls.every(({ run }) => run !== null)
    const found = await this.tracesWhen((traces) => traces.some((one) => one.id === id && isComplete(one)))
    return found.find((one) => one.id === id)!
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}
