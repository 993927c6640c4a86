/** An app behind the native entrance, with clients that send frames and one that asks. */
import { connect as connectHttp2 } from 'node:http2'
import type { App } from '../../src/config/app.ts'
import { appOf, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { selfSigned } from '../support/http/certificate.ts'
import { FrameClient, preface, settings } from './http2-frames.ts'

const file = `${import.meta.dirname}/programs/app.mjs`

export class FloodedApp implements AsyncDisposable {
  readonly app: TestApp
  readonly ca: string
  readonly #folder: TestFolder

  private constructor(app: TestApp, ca: string, folder: TestFolder) {
    this.app = app
    this.ca = ca
    this.#folder = folder
  }

  static async start(limits: Partial<App['limits']> = {}): Promise<FloodedApp> {
    const { cert, key } = await selfSigned()
    const folder = new TestFolder({ 'cert.pem': cert, 'key.pem': key })
    const tls = { cert: folder.at('cert.pem'), key: folder.at('key.pem') }
    const services = { a: { file, run: 'shared', env: { SERVICE: 'a' } } } as const
    const config = appOf({ services, gateway: { entrance: 'native', tls } })
    const app = await TestApp.startLoaded({ ...config, limits: { ...config.limits, ...limits } })
    return new FloodedApp(app, cert, folder)
  }

  async client(): Promise<FrameClient> {
    const client = await FrameClient.open(this.app.port, this.ca)
    await client.send(preface, settings)
    return client
  }

  async ask(): Promise<string> {
    const session = connectHttp2(`https://localhost:${this.app.port}`, { ca: this.ca })
    const stream = session.request({ ':path': '/' }).setEncoding('utf8')
    let text = ''
    for await (const more of stream) text += String(more)
    session.destroy()
    return text
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}
