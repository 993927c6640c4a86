import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TestApp } from '../support/app/test-app.ts'
import { FaultProxy } from './support/fault-proxy.ts'
import { exportPortOf, program, startFar } from './support/two-apps.ts'

/** The app near calls `far` through a proxy that can break the link. */
class Broken implements AsyncDisposable {
  readonly far: TestApp
  readonly near: TestApp
  readonly proxy: FaultProxy

  private constructor(far: TestApp, near: TestApp, proxy: FaultProxy) {
    this.far = far
    this.near = near
    this.proxy = proxy
  }

  static async start(): Promise<Broken> {
    const far = await startFar()
    const proxy = await FaultProxy.open(exportPortOf(far))
    const addresses = [{ protocol: 'tcp', host: '127.0.0.1', port: proxy.port }] as const
    const near = await TestApp.start({ services: { web: program('web.js') }, remotes: [{ name: 'stock', addresses }] })
    return new Broken(far, near, proxy)
  }

  async ask(path: string, init?: RequestInit): Promise<Record<string, unknown>> {
    return (await (await fetch(`${this.near.url}/${path}`, init)).json()) as Record<string, unknown>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.near[Symbol.asyncDispose]()
    await this.proxy[Symbol.asyncDispose]()
    await this.far[Symbol.asyncDispose]()
  }
}

describe('a program whose link to another app breaks', () => {
  it('gets an error for each request in flight, and its next ones are answered over another link', async () => {
    await using apps = await Broken.start()
    for (const way of ['fetch', 'http']) {
      const streams = [1, 2, 3].map(() => apps.ask(`${way}/stream?count=100000`))
      const waits = apps.ask(`${way}/slow?name=${way}`, { method: 'POST', body: way })
      while (!(await seen(apps)).includes(way)) await new Promise((resolve) => setTimeout(resolve, 20))
      apps.proxy.cut()
      for (const failed of [...(await Promise.all(streams)), await waits])
        assert.ok(failed['message'] !== undefined && failed['status'] === undefined, JSON.stringify(failed))
      let status: unknown
      while (status !== 200) status = (await apps.ask(`${way}/who`))['status']
      // A request that may not be repeated was not.
      assert.equal((await seen(apps)).filter((name) => name === way).length, 1)
    }
  })
})

/** The names of all requests that the other app's program has got at `/slow`. */
async function seen(apps: Broken): Promise<string[]> {
  return JSON.parse((await apps.ask('fetch/seen'))['body'] as string) as string[]
}
