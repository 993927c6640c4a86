import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { freePort } from '../../../packages/busbar/test/support/http/free-ports.ts'

const example = join(import.meta.dirname, '..')
const command = join(example, '../../packages/busbar/test/support/busbar.ts')

for (const [way, start] of [
  ['plain node', ['index.js']],
  ['Busbar', [command, 'start', '.', '--port']],
] as const)
  describe(`offload under ${way}`, () => {
    it('computes on its own thread and in another, and reports the time', async () => {
      await using server = await Server.start(start)
      const single = await server.ask('/prime/single')
      assert.deepEqual([single.status, single.body.msg], [200, 832_040])
      assert.match(single.body.durationAfterRequestAccept!, /^\/prime\/single\[\d+\]: \d+\.\d{3}ms$/)
      const worker = await server.ask('/prime/worker')
      assert.deepEqual([worker.status, worker.body.msg], [200, { res: 832_040 }])
      assert.match(worker.body.durationAfterRequestAccept!, /^\/prime\/worker\[\d+\]: \d+\.\d{3}ms$/)
      assert.deepEqual((await server.ask('/prime/worker?n=10')).body.msg, { res: 55 })
      assert.equal((await server.ask('/prime/single?n=0')).body.msg, 0)
    })

    it('refuses an invalid number and one that is too large', async () => {
      await using server = await Server.start(start)
      for (const n of ['', '-1', '1.5', '41', 'ten', '1e1', '010', '1&n=2', '99999999999'])
        for (const path of ['/prime/single', '/prime/worker']) {
          const { status, type, body } = await server.ask(`${path}?n=${n}`)
          assert.deepEqual([status, type], [400, 'application/problem+json; charset=utf-8'], n)
          assert.deepEqual(
            [body.status, body.code, body.title],
            [400, 'INPUT_INVALID', 'n is a whole number from 0 to 40'],
          )
        }
    })

    it('answers other requests while it computes in another thread', async () => {
      await using server = await Server.start(start)
      let isComputing = true
      const computing = server.ask('/prime/worker?n=38').finally(() => (isComputing = false))
      assert.deepEqual((await server.ask('/hello')).body, { hello: 'world' })
      assert.ok(isComputing)
      assert.deepEqual((await computing).body.msg, { res: 39_088_169 })
    })
  })

it('has the route that its README shows', async () => {
  const [source, readme] = await Promise.all(
    ['index.js', 'README.md'].map((file) => readFile(join(example, file), 'utf8')),
  )
  const shown = /```js\n([^]*?)```/.exec(readme!)![1]!
  for (const part of shown.split('\n\n')) assert.ok(source!.includes(part.trim()), part)
})

it('has a benchmark with a usage message', () => {
  const { status, stderr } = spawnSync(join(example, 'benchmark.sh'), ['both'], { encoding: 'utf8' })
  assert.deepEqual([status, stderr.startsWith('usage: ')], [2, true])
})

interface Answer {
  readonly status: number
  readonly type: string | null
  readonly body: {
    msg?: unknown
    durationAfterRequestAccept?: string
    status?: number
    code?: string
    title?: string
  }
}

/** The example on a free port. */
class Server implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #url: string

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.#url = url
  }

  static async start(args: readonly string[]): Promise<Server> {
    const port = await freePort()
    const withPort = args.at(-1) === '--port' ? [...args, `${port}`] : args
    const env = { ...process.env, PORT: `${port}` }
    const child = spawn(process.execPath, withPort, { cwd: example, env, stdio: ['ignore', 'ignore', 'pipe'] })
    const server = new Server(child, `http://127.0.0.1:${port}`)
    const complaint = text(child.stderr)
    for (;;)
      try {
        await server.ask('/hello')
        return server
      } catch (error) {
        if (child.exitCode !== null) throw new Error(await complaint, { cause: error })
      }
  }

  async ask(path: string): Promise<Answer> {
    const response = await fetch(this.#url + path)
    const type = response.headers.get('content-type')
    return { status: response.status, type, body: (await response.json()) as Answer['body'] }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill()
    if (this.#child.exitCode === null) await once(this.#child, 'exit')
  }
}
