import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import type { TestApp } from '../../support/app/test-app.ts'
import { startThings } from './things-app.ts'

/** The app of `programs/app`, and a connection to it on which tests write a call's bytes. */
export class ThingsSession implements AsyncDisposable {
  readonly #app: TestApp
  readonly #session: ClientHttp2Session

  private constructor(app: TestApp, session: ClientHttp2Session) {
    this.#app = app
    this.#session = session
  }

  static async start(): Promise<ThingsSession> {
    const app = await startThings()
    const session = connect(app.url)
    await once(session, 'connect')
    return new ThingsSession(app, session)
  }

  open(method: string, headers: Record<string, string> = {}): ClientHttp2Stream {
    return this.#session.request({
      ':method': 'POST',
      ':path': `/test.v1.ThingService/${method}`,
      'content-type': 'application/grpc',
      ...headers,
    })
  }

  /** Resolves when the server has read what was sent before. */
  async settled(): Promise<void> {
    await new Promise((resolve) => this.#session.ping(resolve))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#session.destroy()
    await this.#app[Symbol.asyncDispose]()
  }
}
