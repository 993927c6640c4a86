/** The log files on a full disk: services go on, and so does the log when there is room again. */
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { SmallDisk } from '../../support/app/small-disk.ts'
import { pollUntil } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const placements = ['shared', 'thread', 'process'] as const

const program = `
const http = require('node:http')
http.createServer((request, response) => {
  const [, name, count] = request.url.slice(1).split('/')
  for (let line = 0; line < Number(count); line++) console.log(name + ' ' + line + ' ' + 'x'.repeat(500))
  response.end('ok')
}).listen(3000)`

describe('log files on a full disk', { skip: SmallDisk.skip() }, () => {
  it('are written again when there is room, with each line or its count, and hold no file meanwhile', async () => {
    using disk = new SmallDisk('600k')
    await using app = await LoggingApp.start(disk)
    await app.print('before', 1)
    await pollUntil(
      () => placements.every((run) => app.file.includes(`${run}-before 0`)),
      () => app.file,
    )
    disk.fill('other')
    // Lines are broken off, and every look at the disk finds it full.
    await app.print('full', 30)
    for (let look = 0; look < 3; look++) {
      await sleep(1100)
      await app.print(`look${look}`, 1)
    }
    await app.busbar.until(() => placements.every((run) => app.lost.some((line) => line.startsWith(`${run}-look2 0`))))
    assert.deepEqual(disk.openFiles, [])
    assert.equal(app.busbar.stdout.match(/the log files cannot be written until this is fixed: ENOSPC/g)?.length, 1)
    rmSync(disk.at('other'))
    await sleep(1100)
    await app.print('after', 1)
    await pollUntil(
      () => placements.every((run) => app.lines.some((line) => line.startsWith(`${run}-after 0`))),
      () => app.file,
    )
    assert.equal(disk.openFiles.length, 1)
    const missing = app.lines.flatMap((line) => /^(\d+) log lines are missing/.exec(line)?.[1] ?? []).map(Number)
    const kept = app.lines.filter((line) => /^\w+-(?:full|look\d) \d+ x+$/.test(line)).length
    const all = placements.length * (30 + 3)
    assert.ok(missing.length === 1 && missing[0]! >= all - kept, `${missing.join()} are missing and ${kept} are there`)
    assert.equal(app.lost.filter((line) => /-(?:full|look\d) /.test(line)).length, all - kept)
  })

  it('go on in a new file within a second after app.log was deleted, and its space is free', async () => {
    using disk = new SmallDisk('600k')
    await using app = await LoggingApp.start(disk)
    await app.print('flood', 1000)
    await app.busbar.message('the log files cannot be written until this is fixed: ENOSPC')
    for (let look = 0; look < 3; look++) {
      await sleep(1100)
      await app.print(`look${look}`, 1)
    }
    rmSync(disk.at('app.log'))
    assert.ok(disk.freeBytes > 500_000, `${disk.freeBytes} bytes are free`)
    await sleep(1100)
    await app.print('after', 1)
    await pollUntil(
      () => placements.every((run) => app.lines.some((line) => line.startsWith(`${run}-after 0`))),
      () => app.file,
    )
    assert.match(app.lines[0]!, /^\d+ log lines are missing: this file could not be written$/)
  })
})

/** One service in each placement; each prints as many lines as the path of a request says. */
class LoggingApp implements AsyncDisposable {
  readonly busbar: BusbarProcess
  readonly #folder: TestFolder
  readonly #disk: SmallDisk
  #url = ''

  private constructor(disk: SmallDisk) {
    this.#disk = disk
    this.#folder = new TestFolder({
      'busbar.config.json': {
        gateway: {
          port: 0,
          routes: Object.fromEntries(placements.map((run) => [`/${run}`, { service: run, strip: false }])),
        },
        logs: { stdout: false, files: { folder: disk.path, maxSize: '1mb', maxTotal: '4mb' } },
        services: Object.fromEntries(placements.map((run) => [run, { path: `./${run}`, run }])),
      },
      ...Object.fromEntries(placements.map((run) => [`${run}/index.js`, program])),
    })
    this.busbar = new BusbarProcess(['start', this.#folder.path])
  }

  static async start(disk: SmallDisk): Promise<LoggingApp> {
    const app = new LoggingApp(disk)
    const address = (): string | undefined => /"addresses":\[\{"url":"(http:[^"]+)"/.exec(app.file)?.[1]
    await pollUntil(
      () => address() !== undefined,
      () => app.busbar.stderr,
    )
    app.#url = address()!
    return app
  }

  get file(): string {
    try {
      return readFileSync(this.#disk.at('app.log'), 'utf8')
    } catch {
      return ''
    }
  }

  /** The messages of the whole lines in the file. */
  get lines(): string[] {
    return this.file.split('\n').flatMap((line) => messageOf(line) ?? [])
  }

  /** The messages of the lines that went to standard output. */
  get lost(): string[] {
    return this.busbar.events.map(({ msg }) => String(msg))
  }

  /** Has every service print `count` lines, which begin with `<service>-<name> <number>`. */
  async print(name: string, count: number): Promise<void> {
    for (const run of placements) {
      const response = await fetch(`${this.#url}/${run}/${run}-${name}/${count}`)
      assert.deepEqual([response.status, await response.text()], [200, 'ok'])
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.busbar.child.kill('SIGTERM')
    await this.busbar.ended
    this.#folder[Symbol.dispose]()
  }
}

/** Undefined if the line was broken off. */
function messageOf(line: string): string | undefined {
  try {
    return (JSON.parse(line) as { msg: string }).msg
  } catch {
    return undefined
  }
}
