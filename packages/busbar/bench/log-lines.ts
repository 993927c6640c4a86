/**
 * The memory of the supervisor while a service prints a million lines of 100 bytes, by where the
 * log goes. `node bench/log-lines.ts [lines] [arm]` prints the memory before, its peak, the time
 * until the last line was written, and the lines that arrived (docs/decisions/run/log-files.md).
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  createReadStream,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createGunzip } from 'node:zlib'

const lines = Number(process.argv[2] ?? 1_000_000)
const busbar = fileURLToPath(new URL('../bin/busbar.js', import.meta.url))

/** Prints when it is asked to, and answers when it has printed. */
const program = `
const text = 'x'.repeat(80)
require('node:http').createServer(async (request, response) => {
  if (request.url !== '/print') return response.end('ready')
  for (let line = 0; line < ${lines}; line++) {
    console.log('line ' + String(line).padStart(8, '0') + ' ' + text)
    // A loop that does not yield for 30 seconds would be ended as stuck.
    if (line % 1000 === 0) await new Promise(setImmediate)
  }
  console.log('the last line')
  response.end('printed')
}).listen(3000)`

const files = { folder: './logs', maxSize: '16mb', maxTotal: '1gb' }
const arms = {
  'files, thread': { run: 'thread', logs: { stdout: false, files } },
  'files, process': { run: 'process', logs: { stdout: false, files } },
  'files and a reader that reads nothing, process': { run: 'process', logs: { files }, stalls: true },
  'files, 1,000 lines per second, process': { run: 'process', logs: { stdout: false, files, rate: 1000 } },
  'standard output, process': { run: 'process', logs: {} },
} as const

async function measure(name: string, arm: (typeof arms)[keyof typeof arms]): Promise<string> {
  using app = new MeasuredApp(arm)
  await app.untilServes()
  await sleep(500)
  const before = app.memory('VmRSS')
  app.resetPeak()
  const began = performance.now()
  await app.print()
  const took = performance.now() - began
  const peak = app.memory('VmHWM')
  const arrived = await app.stop()
  return `${name}: ${before} MB before, peak ${peak} MB, ${(took / 1000).toFixed(1)} s, ${arrived} lines`
}

class MeasuredApp implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'busbar-bench-'))
  readonly #child: ChildProcessByStdio<null, Readable, null>
  readonly #reader: Interface
  readonly #stalls: boolean
  /** The current log file; undefined if the log is on standard output only. */
  readonly #file: string | undefined
  #url = ''
  #arrived = 0
  #isLast = false

  constructor({ run, logs, ...rest }: (typeof arms)[keyof typeof arms]) {
    mkdirSync(join(this.#folder, 'web'))
    writeFileSync(join(this.#folder, 'web/index.js'), program)
    const config = { gateway: { port: 0, entry: 'web' }, logs, services: { web: { path: './web', run } } }
    writeFileSync(join(this.#folder, 'busbar.config.json'), JSON.stringify(config))
    const args = [busbar, 'start', '--once', this.#folder]
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#reader = createInterface({ input: this.#child.stdout }).on('line', (line) => this.#see(line))
    this.#stalls = 'stalls' in rest
    this.#file = 'files' in logs ? join(this.#folder, 'logs/app.log') : undefined
  }

  async untilServes(): Promise<void> {
    while (this.#url === '') await this.#look()
    await fetch(this.#url)
    if (!this.#stalls) return
    this.#reader.close()
    this.#child.stdout.pause()
  }

  /** Resolves when the last line was written. With a rate limit that line is dropped. */
  async print(): Promise<void> {
    await (await fetch(`${this.#url}/print`)).text()
    for (let looks = 0; !this.#isLast && looks < 500; looks++) await this.#look()
  }

  /** Resolves to the number of lines that were written. */
  async stop(): Promise<number> {
    this.#child.stdout.resume()
    this.#child.kill('SIGTERM')
    await once(this.#child, 'exit')
    return this.#file === undefined ? this.#arrived : await linesIn(join(this.#folder, 'logs'))
  }

  /** Megabytes of the supervisor's process. */
  memory(name: 'VmRSS' | 'VmHWM'): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    return Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)![1]) / 1024)
  }

  /** See proc(5). */
  resetPeak(): void {
    writeFileSync(`/proc/${this.#child.pid}/clear_refs`, '5')
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #look(): Promise<void> {
    await sleep(20)
    if (this.#file !== undefined && existsSync(this.#file)) this.#see(readFileSync(this.#file, 'utf8'))
  }

  #see(text: string): void {
    this.#url ||= /"url":"([^"]+)"/.exec(text)?.[1] ?? ''
    if (text.includes('"msg":"line ')) this.#arrived++
    if (text.includes('the last line')) this.#isLast = true
  }
}

for (const [name, arm] of Object.entries(arms))
  if (name.startsWith(process.argv[3] ?? '')) console.log(await measure(name, arm))

async function linesIn(folder: string): Promise<number> {
  let count = 0
  for (const name of globSync('app*.log*', { cwd: folder })) {
    const bytes = createReadStream(join(folder, name))
    const text = name.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes
    for await (const line of createInterface({ input: text })) if (line.includes('"msg":"line ')) count++
  }
  return count
}
