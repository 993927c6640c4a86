import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findCommand } from '../src/requirements.ts'
import type { Result } from '../src/result.ts'
import { withEngine } from './support/fixture.ts'

const linux = process.platform === 'linux' ? withEngine : { skip: 'reads /proc' }

// CI installs the server.
const withNats = { skip: findCommand('nats-server') === undefined && process.env['CI'] === undefined }

describe('a lab that is stopped', linux, () => {
  test('by Ctrl-C keeps its complete rounds, leaves no process, and can be resumed', async () => {
    using lab = new Lab()
    const run = lab.start(6)
    await run.untilRound(3)
    run.child.kill('SIGINT')
    const partial = (await run.result())!
    assert.equal(partial.rounds, 2)
    assert.equal(partial.stopped?.by, 'hand')
    assert.deepEqual([lab.processes(), lab.folders()], [[], []])

    const whole = (await lab.start(3, '--resume').result())!
    assert.equal(whole.rounds, 3)
    assert.equal(whole.stopped, null)
    assert.equal(whole.seed, partial.seed)
    const rounds = ({ arms }: Result, most: number) =>
      arms.map(({ name, slices }) => [name, slices.filter(({ round }) => round <= most)])
    assert.deepEqual(rounds(whole, 2), rounds(partial, 2))
  })

  test('by a Ctrl-C that npm and the terminal both deliver behaves as for one', async () => {
    using lab = new Lab()
    const run = lab.start(6)
    await run.untilRound(2)
    run.child.kill('SIGINT')
    run.child.kill('SIGINT')
    assert.equal((await run.result())?.rounds, 1)
    assert.deepEqual(lab.processes(), [])
  })

  test('by SIGKILL leaves no process, not even a frozen one, and no folder', async () => {
    using lab = new Lab()
    const run = lab.start(6)
    await run.untilRound(1)
    assert.ok(lab.processes().length > 3)
    assert.equal(lab.folders().length, 1)
    run.child.kill('SIGKILL')
    await once(run.child, 'close')
    for (let turn = 0; turn < 100 && lab.processes().length > 0; turn++) await sleep(50)
    assert.deepEqual([lab.processes(), lab.folders()], [[], []])
  })

  for (const signal of ['SIGINT', 'SIGKILL'] as const)
    test(`by ${signal} leaves no process of an arm with two apps and a server`, withNats, async () => {
      using lab = new Lab()
      const run = lab.start(6, '--hosts')
      await run.untilRound(1)
      assert.ok(lab.processes().some((line) => line.includes('nats-server')))
      run.child.kill(signal)
      await once(run.child, 'close')
      for (let turn = 0; turn < 100 && lab.processes().length > 0; turn++) await sleep(50)
      assert.deepEqual([lab.processes(), lab.folders()], [[], []])
    })

  test('after all rounds leaves nothing to resume', async () => {
    using lab = new Lab()
    assert.equal((await lab.start(1).result())?.rounds, 1)
    const again = lab.start(2, '--resume')
    assert.equal(await again.result(), undefined)
    assert.match(again.said(), /there is nothing to resume/)
  })
})

/** Runs `programs/lab.ts` with its own folders. */
class Lab implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'busbar-lab-test-'))
  readonly #children: ChildProcess[] = []

  start(rounds: number, ...args: string[]) {
    const program = fileURLToPath(new URL('./programs/lab.ts', import.meta.url))
    const env = { ...process.env, TMPDIR: this.#folder, XDG_CACHE_HOME: join(this.#folder, 'cache') }
    const child = spawn(process.execPath, [program, ...args, String(rounds)], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#children.push(child)
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const read = async () => {
      const { value, done } = (await lines.next()) as IteratorResult<string>
      return done ? undefined : (JSON.parse(value) as { round?: number; result?: Result })
    }
    return {
      child,
      said: () => said,
      async untilRound(wanted: number) {
        for (let line = await read(); line?.round !== wanted; line = await read())
          assert.notEqual(line, undefined, `ended before round ${wanted}: ${said}`)
      },
      async result() {
        let result: Result | undefined
        for (let line = await read(); line !== undefined; line = await read()) result = line.result
        return result
      },
    }
  }

  /** Command lines of the lab and of all processes that it started. */
  processes(): string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && readProc(name, 'environ').includes(`TMPDIR=${this.#folder}`))
      .map((pid) => readProc(pid, 'cmdline').replaceAll('\0', ' '))
  }

  /** Its temporary folders. */
  folders(): string[] {
    return readdirSync(this.#folder).filter((name) => name !== 'cache')
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill('SIGKILL')
    if (existsSync(this.#folder)) rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Empty for a process that has exited. */
function readProc(pid: string, file: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
