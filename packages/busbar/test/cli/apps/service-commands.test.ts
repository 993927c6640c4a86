import assert from 'node:assert/strict'
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { BusbarProcess, type Ended } from '../../support/app/busbar-process.ts'
import { pollUntil } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const shopFolder = `${import.meta.dirname}/../programs/shop`

/** One app for all tests, because commands do not change it. */
class Shop {
  readonly folder: TestFolder
  readonly #busbar: BusbarProcess
  readonly #env: { readonly XDG_RUNTIME_DIR: string }

  constructor() {
    this.folder = new TestFolder()
    this.#env = { XDG_RUNTIME_DIR: this.folder.at('run') }
    this.#busbar = new BusbarProcess(['start', '--once'], { env: this.#env, cwd: shopFolder })
  }

  async started(): Promise<void> {
    await this.#busbar.url()
  }

  run(...args: string[]): Promise<Ended> {
    return BusbarProcess.run(args, { env: this.#env, cwd: shopFolder })
  }

  begin(...args: string[]): BusbarProcess {
    return new BusbarProcess(args, { env: this.#env, cwd: shopFolder })
  }

  /** `input`: its standard input. */
  async feed(input: string, ...args: string[]): Promise<Ended> {
    await using busbar = new BusbarProcess(args, { env: this.#env, cwd: shopFolder, input })
    return await busbar.ended
  }

  logged(text: string, count: number): Promise<void> {
    return this.#busbar.until(() => this.#busbar.events.filter(({ msg }) => msg === text).length >= count)
  }

  async close(): Promise<void> {
    await this.#busbar[Symbol.asyncDispose]()
    this.folder[Symbol.dispose]()
  }
}

describe('commands on the services of a running app', () => {
  let shop: Shop
  before(async () => {
    shop = new Shop()
    await shop.started()
  })
  after(() => shop.close())

  describe('busbar inject', () => {
    for (const service of ['web', 'billing', 'old'])
      test(`sends a request to ${service}, with headers and a body`, async () => {
        const { code, stdout, stderr } = await shop.run('inject', service, 'POST', '/', '-d', 'text', '-H', 'x-a: 1')
        assert.deepEqual([code, stdout], [0, 'text'])
        assert.match(stderr, /^200 OK\n/)
        assert.match(stderr, /^x-name: \w*$/m)
      })

    test('ends with 1 for a status of 400 or more', async () => {
      const { code, stdout } = await shop.run('inject', 'web', 'get', '/missing')
      assert.deepEqual([code, stdout], [1, 'nothing here'])
    })

    test('prints JSON, bytes as base64', async () => {
      const { stdout } = await shop.run('inject', 'web', 'GET', '/binary', '--json')
      const { status, body, encoding } = JSON.parse(stdout) as { status: number; body: string; encoding: string }
      assert.deepEqual([status, body, encoding], [200, '/wD+', 'base64'])
    })

    test('refuses a header without a colon', async () => {
      assert.equal((await shop.run('inject', 'web', 'GET', 'missing')).code, 2)
      const { code, stderr } = await shop.run('inject', 'web', 'GET', '/', '-H', 'nothing')
      assert.equal(code, 2)
      assert.match(stderr, /has no colon/)
    })
  })

  describe('busbar call', () => {
    test('prints the result of a method, whether or not it has an HTTP mapping', async () => {
      const item = await shop.run('call', 'items', 'item', '{"id":1}')
      assert.deepEqual([item.code, item.stdout], [0, '{"id":1,"name":"cup"}\n'])
      const when = await shop.run('call', 'items', 'when')
      assert.deepEqual([when.code, when.stdout], [0, '{"$date":"1970-01-01T00:00:00.000Z"}\n'])
    })

    test('prints each value of a stream', async () => {
      const { code, stdout } = await shop.run('call', 'items', 'all', '{"count":3}')
      assert.deepEqual([code, stdout], [0, '0\n1\n2\n'])
    })

    test('prints an error that the contract declares, with its data', async () => {
      const { code, stdout } = await shop.run('call', 'items', 'item', '{"id":404}', '--json')
      assert.equal(code, 1)
      const { ok, error } = JSON.parse(stdout) as { ok: boolean; error: { code: string; data: unknown } }
      assert.deepEqual([ok, error.code, error.data], [false, 'GONE', { id: 404 }])
    })

    const refused: readonly (readonly [args: string[], code: number, error: RegExp])[] = [
      [['items', 'item', '{"id":"1"}'], 1, /INPUT_INVALID/],
      [['items', 'itme', '{}'], 1, /the nearest are item.*METHOD_UNKNOWN/],
      [['itmes', 'item', '{}'], 1, /the nearest are items.*SERVICE_UNKNOWN/],
      [['web', 'item'], 1, /is a program and has no methods/],
      [['old', 'item'], 1, /OPERATION_UNSUPPORTED/],
      [['items', 'item', '{id:1}'], 2, /the input is not JSON/],
      [['items'], 2, /busbar call needs <method>/],
    ]
    for (const [args, expected, error] of refused)
      test(`refuses ${args.join(' ')}`, async () => {
        const { code, stderr } = await shop.run('call', ...args)
        assert.equal(code, expected, stderr)
        assert.match(stderr, error)
      })
  })

  describe('busbar signal', () => {
    test('runs the handlers of a program in a thread and in a process, and reaches a command', async () => {
      for (const [at, service] of ['web', 'billing', 'old'].entries()) {
        const { code, stdout } = await shop.run('signal', service, 'hup')
        assert.deepEqual([code, stdout], [0, `${service}: SIGHUP\n`])
        await shop.logged('reloads its settings', at + 1)
      }
    })

    test('leaves a service without a handler alone, and ends with 1', async () => {
      const { code, stdout } = await shop.run('signal', 'web', 'SIGUSR2')
      assert.deepEqual([code, stdout], [1, 'web: no handler for SIGUSR2\n'])
      assert.equal((await shop.run('inject', 'web', 'GET', '/')).code, 0)
    })

    test('refuses SIGKILL for a thread, and an unknown signal', async () => {
      const kill = await shop.run('signal', 'web', 'SIGKILL')
      assert.equal(kill.code, 1)
      assert.match(kill.stderr, /OPERATION_UNSUPPORTED/)
      const unknown = await shop.run('signal', 'web', 'SIGUP')
      assert.equal(unknown.code, 2)
      assert.match(unknown.stderr, /"SIGUP" is not a signal \(USAGE\)\n  hint: Did you mean SIGHUP\?\n$/)
    })
  })

  describe('busbar profile and heap-snapshot', () => {
    for (const service of ['web', 'billing'])
      test(`write files of ${service} that only the user can read`, async () => {
        const [cpu, heap, snapshot] = ['cpu', 'heap', 'snapshot'].map((name) => shop.folder.at(`${service}.${name}`))
        const results = [
          await shop.run('profile', 'cpu', service, '--seconds', '1', '-o', cpu!),
          await shop.run('profile', 'heap', service, '--seconds', '1', '-o', heap!),
          await shop.run('heap-snapshot', service, '-o', snapshot!),
        ]
        assert.deepEqual(
          results.map(({ code, stdout }) => [code, stdout]),
          [cpu, heap, snapshot].map((file) => [0, `${file}\n`]),
        )
        const { nodes, timeDeltas } = JSON.parse(readFileSync(cpu!, 'utf8')) as {
          nodes: object[]
          timeDeltas: number[]
        }
        assert.ok(nodes.length > 0)
        // The profiler's own start is no work of the service.
        assert.equal(timeDeltas[0], 0)
        assert.ok('head' in (JSON.parse(readFileSync(heap!, 'utf8')) as object))
        assert.ok('snapshot' in (JSON.parse(readFileSync(snapshot!, 'utf8')) as object))
        assert.equal(statSync(snapshot!).mode & 0o777, 0o600)
      })

    test('keep a file that cannot be replaced, and make one private that is', async () => {
      shop.folder.write('own', 'my notes')
      chmodSync(shop.folder.at('own'), 0o644)
      const missing = await shop.run('heap-snapshot', 'web', '-o', shop.folder.at('none', 'own'))
      assert.equal(missing.code, 2)
      assert.match(missing.stderr, /cannot be written: ENOENT[^\n]* \(USAGE\)\n  hint: [^\n]*--output[^\n]*\n$/)
      const full = await shop.run('heap-snapshot', 'web', '-o', '/dev/full')
      assert.equal(full.code, 2)
      assert.match(full.stderr, /cannot be written: ENOSPC[^\n]* \(USAGE\)\n  hint: [^\n]*--output[^\n]*\n$/)
      assert.ok(existsSync('/dev/full'))
      const nothing = await shop.run('heap-snapshot', 'nobody', '-o', shop.folder.at('own'))
      assert.notEqual(nothing.code, 0)
      assert.equal(readFileSync(shop.folder.at('own'), 'utf8'), 'my notes')
      assert.equal((await shop.run('profile', 'cpu', 'web', '--seconds', '1', '-o', shop.folder.at('own'))).code, 0)
      assert.equal(statSync(shop.folder.at('own')).mode & 0o777, 0o600)
    })

    test('leave no file if they are interrupted', async () => {
      const file = shop.folder.at('interrupted')
      await using taken = shop.begin('profile', 'cpu', 'web', '--seconds', '30', '-o', file)
      await pollUntil(() => existsSync(file))
      taken.child.kill('SIGINT')
      await taken.ended
      assert.equal(existsSync(file), false)
    })

    test('refuse a command, and an instance that does not exist', async () => {
      const command = await shop.run('heap-snapshot', 'old')
      assert.equal(command.code, 1)
      assert.match(command.stderr, /OPERATION_UNSUPPORTED/)
      const other = await shop.run('profile', 'cpu', 'web', '--instance', '7')
      assert.equal(other.code, 1)
      assert.match(other.stderr, /'web' has no instance 7/)
    })
  })

  describe('busbar repl', () => {
    for (const service of ['web', 'billing'])
      test(`runs code in ${service}, with its variables`, async () => {
        const lines = [
          'process.env.NAME',
          'const answer = await Promise.resolve({ a: [1, new Map()] }); answer',
          'undefined',
          'function twice(n) {',
          'return 2 * n }',
          'twice(21)',
          "(await fetch('http://items.internal/items/1')).status",
          'throw new TypeError("on purpose")',
          '.exit',
        ]
        const { code, stdout } = await shop.feed(lines.join('\n'), 'repl', service)
        assert.equal(code, 0)
        const shown = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('    at '))
        assert.deepEqual(shown, [
          `'${service}'`,
          '{ a: [ 1, Map(0) {} ] }',
          '42',
          '200',
          'Uncaught TypeError: on purpose',
        ])
      })

    test('refuses a command', async () => {
      const { code, stderr } = await shop.run('repl', 'old')
      assert.equal(code, 1)
      assert.match(stderr, /OPERATION_UNSUPPORTED/)
    })
  })

  describe('busbar logs', () => {
    test('shows lines by service, level, time, number and pattern', async () => {
      const json = await shop.run('logs', 'web', '--json', '--grep', 'settings', '--since', '1h')
      const lines = json.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
      assert.deepEqual(
        lines.map(({ service, msg }) => [service, msg]),
        [['web', 'reloads its settings']],
      )
      const text = await shop.run('logs', '--grep', 'serves at')
      assert.match(text.stdout, /^\[\d\d:\d\d:\d\d\.\d+\] INFO: busbar shop serves at http/)
      assert.equal((await shop.run('logs', '--level', 'fatal')).stdout, '')
      assert.equal((await shop.run('logs', '-n', '2', '--json')).stdout.trimEnd().split('\n').length, 2)
    })

    test('refuses a wrong pattern and a wrong time', async () => {
      assert.equal((await shop.run('logs', '--grep', '(')).code, 2)
      assert.equal((await shop.run('logs', '--since', 'soon')).code, 2)
    })
  })

  describe('busbar top', () => {
    test('shows the instances again and again', async () => {
      const { code, stdout } = await shop.run('top', 'shop', '--count', '2', '--interval', '100')
      assert.equal(code, 0)
      assert.equal(stdout.match(/^items +0 /gm)?.length, 2)
      const json = await shop.run('top', '--count', '2', '--interval', '100', '--json')
      assert.deepEqual(
        json.stdout
          .trimEnd()
          .split('\n')
          .map((line) => (JSON.parse(line) as { runs: { app: { name: string } }[] }).runs.map(({ app }) => app.name)),
        [['shop'], ['shop']],
      )
    })
  })
})
