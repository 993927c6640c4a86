import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { Agent, request } from 'undici'
import { freePorts } from '../../../packages/busbar/test/support/http/free-ports.ts'

const example = join(import.meta.dirname, '..')
const names = ['fastify2', 'node3', 'type1', 'type4'] as const
type Name = (typeof names)[number]

describe('fanout', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fanout-'))
    const made = spawnSync(process.execPath, [join(example, 'setup', 'certificate.ts'), folder])
    assert.equal(made.status, 0, made.stderr.toString())
  })
  after(() => rm(folder, { recursive: true }))

  for (const workers of [1, 2])
    it(`answers by name, over TCP and over TLS (${workers} worker${workers > 1 ? 's' : ''})`, async () => {
      await using app = await App.start(folder, { workers })
      for (const way of ['ipc', 'tcp', 'ssl']) assert.deepEqual(await app.ask(way), [200, { success: true }])
    })

  it('is served over HTTPS', async () => {
    await using app = await App.start(folder, { secure: true })
    assert.deepEqual(await app.ask('ipc'), [200, { success: true }])
  })

  for (const name of ['fastify2', 'type4'])
    it(`answers 502 and names ${name} if that answers 500`, async () => {
      await using app = await App.start(folder, { broken: { [name]: 'failing' } })
      for (const way of ['ipc', 'tcp', 'ssl']) {
        const reason = `${name} answered 500`
        assert.deepEqual(await app.ask(way), [502, { success: false, failed: name, reason }])
      }
    })

  for (const program of ['cut', 'short', 'other'])
    it(`answers 502 and names the service whose answer is ${program}`, async () => {
      await using app = await App.start(folder, { broken: { node3: program } })
      for (const way of ['ipc', 'tcp', 'ssl']) {
        const [status, answer] = await app.ask(way)
        assert.deepEqual([status, answer.success, answer.failed], [502, false, 'node3'])
      }
    })

  it('has the config that its README shows', async () => {
    const [config, readme] = await Promise.all(
      ['busbar.config.ts', 'README.md'].map((file) => readFile(join(example, file), 'utf8')),
    )
    const shown = /```ts\n([^]*?)```/.exec(readme!)![1]!
    assert.ok(config!.includes(shown), 'README.md shows another config')
    const env = { ...process.env, FORCE_COLOR: '0' }
    const checked = spawnSync(process.execPath, [command, 'check', example, '--json'], { env })
    assert.equal(checked.status, 0, checked.stderr.toString())
  })

  for (const name of names)
    it(`${name} runs alone`, async () => {
      const [port, tlsPort] = await freePorts(2)
      const manifest = await readFile(join(example, name, 'package.json'), 'utf8')
      const [, file] = (JSON.parse(manifest) as { scripts: { start: string } }).scripts.start.split(' ')
      const env = { ...process.env, PORT: `${port}`, TLS_PORT: `${tlsPort}`, CERTIFICATES: folder }
      const child = spawn(process.execPath, [file!], { cwd: join(example, name), env, stdio: 'ignore' })
      try {
        const ca = await readFile(join(folder, 'cert.pem'))
        const live = { status: 'ok', service: name }
        assert.deepEqual(await getWhenOpen(`http://127.0.0.1:${port}/live`), [200, live])
        assert.deepEqual(await getWhenOpen(`https://127.0.0.1:${tlsPort}/live`, ca), [200, live])
      } finally {
        child.kill()
        await once(child, 'exit')
      }
    })
})

const command = join(example, '..', '..', 'packages', 'busbar', 'test', 'support', 'busbar.ts')

interface Options {
  workers?: number
  secure?: boolean
  /** Programs that replace those of the example. */
  broken?: Partial<Record<Name, string>>
}

interface Answer {
  success: boolean
  failed?: string
  reason?: string
}

/** The example under Busbar, on free ports. */
class App implements AsyncDisposable {
  readonly #child: ReturnType<typeof spawn>
  readonly #url: string
  readonly #ca: Buffer

  private constructor(child: ReturnType<typeof spawn>, url: string, ca: Buffer) {
    this.#child = child
    this.#url = url
    this.#ca = ca
  }

  static async start(folder: string, options: Options): Promise<App> {
    const config = join(folder, 'busbar.config.json')
    await writeFile(config, JSON.stringify(await configOf(folder, options)))
    const child = spawn(process.execPath, [command, 'start', config], { stdio: ['ignore', 'pipe', 'pipe'] })
    const errors = text(child.stderr)
    for await (const line of createInterface({ input: child.stdout })) {
      const { addresses } = JSON.parse(line) as { addresses?: { url: string }[] }
      if (addresses === undefined) continue
      child.stdout.resume()
      return new App(child, addresses[0]!.url, await readFile(join(folder, 'cert.pem')))
    }
    throw new Error(`the app did not start: ${await errors}`)
  }

  async ask(way: string): Promise<[status: number, answer: Answer]> {
    return (await get(`${this.#url}/tsfastify/${way}`, this.#ca)) as [number, Answer]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill()
    const [code] = (await once(this.#child, 'exit')) as [number | null]
    assert.equal(code, 0)
  }
}

async function configOf(folder: string, { workers = 1, secure = false, broken = {} }: Options): Promise<unknown> {
  const free = await freePorts(2 * names.length)
  const ports = names.map((name, index) => ({ name, port: free[2 * index]!, tlsPort: free[2 * index + 1]! }))
  const services = ports.map(({ name, port, tlsPort }) => {
    const path =
      broken[name] === undefined ? join(example, name) : join(import.meta.dirname, 'programs', `${broken[name]}.js`)
    return [name, { path, expose: [port, tlsPort], env: { PORT: port, TLS_PORT: tlsPort } }]
  })
  const env = ports.flatMap(({ name, port, tlsPort }) => [
    [`${name.toUpperCase()}_PORT`, port],
    [`${name.toUpperCase()}_TLS_PORT`, tlsPort],
  ])
  const tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  return {
    workers,
    gateway: { port: 0, routes: { '/tsfastify': 'tsfastify' }, ...(secure && { tls }) },
    defaults: { run: 'shared', env: { CERTIFICATES: folder } },
    services: {
      tsfastify: { path: join(example, 'tsfastify'), needs: names, env: Object.fromEntries(env) as object },
      ...Object.fromEntries(services),
    },
  }
}

async function get(url: string, ca?: Buffer): Promise<[status: number, answer: unknown]> {
  const dispatcher = new Agent(ca === undefined ? {} : { connect: { ca } })
  try {
    const { statusCode, body } = await request(url, { dispatcher })
    return [statusCode, await body.json()]
  } finally {
    await dispatcher.close()
  }
}

/** Polls, since a program without Busbar does not report when it listens. */
async function getWhenOpen(url: string, ca?: Buffer): Promise<[status: number, answer: unknown]> {
  for (;;) {
    try {
      return await get(url, ca)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error
    }
  }
}
