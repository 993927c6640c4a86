import assert from 'node:assert/strict'
import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { LogFiles } from '../../../src/config/app.ts'
import { createLog, type Log } from '../../../src/observe/log.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const defaults = { maxSize: 1000, maxAge: 3_600_000, maxTotal: 10_000, compress: false }

test('each entry is a line of JSON in app.log, which only its user can read', async () => {
  using folder = new TestFolder()
  await using log = await FileLog.open(folder, { stdout: false })
  log.line('one')
  log.line('two')
  await log.flush()
  assert.deepEqual(messages(folder, 'app.log'), ['one', 'two'])
  assert.equal(statSync(folder.at('logs/app.log')).mode & 0o777, 0o600)
  assert.equal(statSync(folder.at('logs')).mode & 0o777, 0o700)
  assert.equal(await log.streamed(), '')
})

test('standard output keeps the lines unless it is turned off', async () => {
  using folder = new TestFolder()
  await using log = await FileLog.open(folder, { stdout: true })
  log.line('one')
  assert.match(await log.streamed(), /"msg":"one"/)
})

test('a file is rotated by its size, and no line is lost or divided', async () => {
  using folder = new TestFolder()
  await using log = await FileLog.open(folder, { files: { ...defaults, maxTotal: 100_000 } })
  const lines = Array.from({ length: 300 }, (_, index) => `line ${index}`)
  for (const line of lines) log.line(line)
  await log.flush()
  const files = rotated(folder)
  assert.ok(files.length > 10)
  for (const file of files) assert.ok(statSync(folder.at('logs', file)).size <= 1000)
  assert.deepEqual(
    [...files, 'app.log'].flatMap((file) => messages(folder, file)),
    lines,
  )
})

test('all files together stay within their bound: the oldest are deleted', async () => {
  using folder = new TestFolder()
  await using log = await FileLog.open(folder)
  for (let line = 0; line < 1000; line++) log.line(`line ${line}`)
  await log.flush()
  const files = readdirSync(folder.at('logs'))
  const sizes = files.map((file) => statSync(folder.at('logs', file)).size)
  assert.ok(sizes.reduce((sum, size) => sum + size) <= 10_000)
  assert.equal(messages(folder, 'app.log').at(-1), 'line 999')
})

test('a file of an earlier run is continued, and rotated when it is too old', async () => {
  using folder = new TestFolder({ 'logs/app.log': '{"msg":"old"}\n' })
  await sleep(20)
  await using log = await FileLog.open(folder, { files: { ...defaults, maxAge: 10 } })
  log.line('new')
  await log.flush()
  assert.deepEqual(
    rotated(folder).flatMap((file) => messages(folder, file)),
    ['old'],
  )
  assert.deepEqual(messages(folder, 'app.log'), ['new'])
})

test('rotated files are compressed, also those that an earlier run left', async () => {
  const name = 'app-2026-01-01T00-00-00-000Z.log'
  using folder = new TestFolder({ [`logs/${name}`]: '{"msg":"old"}\n' })
  await using log = await FileLog.open(folder, { files: { ...defaults, compress: true } })
  log.line('one')
  while (rotated(folder).join() !== `${name}.gz`) await sleep(50)
  assert.equal(gunzipSync(readFileSync(folder.at('logs', `${name}.gz`))).toString(), '{"msg":"old"}\n')
})

test('a line that was broken off stays on a line of its own', async () => {
  using folder = new TestFolder({ 'logs/app.log': '{"msg":"whole"}\n{"msg":"brok' })
  await using log = await FileLog.open(folder)
  log.line('new')
  await log.flush()
  assert.deepEqual(readFileSync(folder.at('logs/app.log'), 'utf8').split('\n').slice(0, 2), [
    '{"msg":"whole"}',
    '{"msg":"brok',
  ])
  assert.match(readFileSync(folder.at('logs/app.log'), 'utf8').split('\n')[2]!, /"msg":"new"\}$/)
})

test('other files in the folder stay', async () => {
  using folder = new TestFolder({ 'logs/other.log': 'x'.repeat(20_000), 'logs/app-notes.log': 'x'.repeat(20_000) })
  await using log = await FileLog.open(folder)
  for (let line = 0; line < 300; line++) log.line(`line ${line}`)
  await log.flush()
  assert.equal(statSync(folder.at('logs/other.log')).size, 20_000)
  assert.equal(statSync(folder.at('logs/app-notes.log')).size, 20_000)
})

test('after somebody moved the file, lines go to a new one within a second', async () => {
  using folder = new TestFolder()
  await using log = await FileLog.open(folder)
  log.line('one')
  await log.flush()
  renameSync(folder.at('logs/app.log'), folder.at('moved.log'))
  await sleep(1100)
  log.line('two')
  await log.flush()
  assert.deepEqual(messages(folder, 'app.log'), ['two'])
})

test('two processes may write one file', async () => {
  using folder = new TestFolder()
  await using log = await FileLog.open(folder)
  log.line('one')
  await log.flush()
  appendFileSync(folder.at('logs/app.log'), '{"msg":"of another process"}\n')
  log.line('two')
  await log.flush()
  assert.deepEqual(messages(folder, 'app.log'), ['one', 'of another process', 'two'])
})

test('while the files cannot be written, lines go to standard output, and the file later says how many are missing', async () => {
  using folder = new TestFolder()
  writeFileSync(folder.at('logs'), 'a file where the folder should be')
  await using log = await FileLog.open(folder, { stdout: false })
  log.line('one')
  log.line('two')
  await log.flush()
  rmSync(folder.at('logs'))
  await sleep(1100)
  log.line('three')
  await log.flush()
  const [missing, three] = messages(folder, 'app.log')
  assert.equal(missing, '2 log lines are missing: this file could not be written')
  assert.equal(three, 'three')
  const streamed = (await log.streamed())
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg)
  assert.match(streamed[0]!, /^the log files cannot be written until this is fixed: E/)
  assert.deepEqual(streamed.slice(1), ['one', 'two'])
})

test('secrets are hidden in events', async () => {
  using folder = new TestFolder()
  await using log = await FileLog.open(folder, { secrets: ['hunter22'] })
  log.log.event('error', 'connecting with hunter22 failed', { hint: 'is hunter22 right?' })
  await log.flush()
  const line = readFileSync(folder.at('logs/app.log'), 'utf8')
  assert.ok(!line.includes('hunter22'))
  assert.match(line, /connecting with \[redacted\] failed/)
})

interface Settings {
  readonly files?: Omit<LogFiles, 'folder'>
  readonly stdout?: boolean
  readonly secrets?: readonly string[]
}

class FileLog implements AsyncDisposable {
  readonly log: Log
  readonly #stream = new PassThrough()

  private constructor() {
    this.log = createLog({ format: 'json', stream: this.#stream })
  }

  static async open(
    folder: TestFolder,
    { files = defaults, stdout = true, secrets = [] }: Settings = {},
  ): Promise<FileLog> {
    const opened = new FileLog()
    const logs = { stdout, rate: undefined, redact: [], files: { ...files, folder: folder.at('logs') } }
    await opened.log.use({ logs, secrets })
    return opened
  }

  line(line: string): void {
    this.log.write({ time: 1, level: 'info', service: 'web', stream: 'stdout', line, worker: 0 })
  }

  async flush(): Promise<void> {
    await this.log.flush(0)
  }

  async streamed(): Promise<string> {
    await this.log.flush(1000)
    this.#stream.end()
    return await text(this.#stream)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.log.close()
  }
}

function rotated(folder: TestFolder): string[] {
  return readdirSync(folder.at('logs'))
    .filter((name) => name.startsWith('app-') && name !== 'app-notes.log')
    .toSorted()
}

function messages(folder: TestFolder, name: string): string[] {
  const lines = readFileSync(folder.at('logs', name), 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
}
