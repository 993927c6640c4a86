/** The `log` function of `startApp`: what it receives, and that its faults stay its own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogLine } from '../../src/embed/embedded-app.ts'
import { startApp } from '../../src/embed/start-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const program = `
  import { createServer } from 'node:http'
  createServer((_, response) => response.end('served')).listen(3000)
  console.log('the service says hello')`

test('a log function receives the lines of services and of Busbar', async () => {
  using folder = new TestFolder({ 'web/index.mjs': program })
  const lines: LogLine[] = []
  await using _app = await startApp(folder.at('web'), { port: 0, log: (line) => lines.push(line) })
  const own = lines.find(({ line }) => line === 'the service says hello')
  assert.deepEqual([own?.service, own?.stream, own?.level], ['web', 'stdout', 'info'])
  assert.ok(
    lines.some(({ service, stream }) => service === undefined && stream === 'busbar'),
    JSON.stringify(lines),
  )
})

for (const [how, log] of [
  ['throws', () => fail()],
  ['rejects', async () => fail()],
] as const)
  test(`a log function that ${how} for every line is one warning, and the app runs`, async () => {
    using folder = new TestFolder({ 'web/index.mjs': program })
    using warnings = new CapturedWarnings()
    await using app = await startApp(folder.at('web'), { port: 0, log })
    assert.equal(await (await fetch(app.url)).text(), 'served')
    await app.stop()
    assert.deepEqual(warnings.messages, ['the log function given to startApp threw: Error: a mistake of the caller'])
  })

function fail(): never {
  throw new Error('a mistake of the caller')
}

/** Collects the warnings of this process instead of printing them. */
class CapturedWarnings implements Disposable {
  readonly messages: string[] = []
  readonly #printers = process.listeners('warning')

  constructor() {
    process.removeAllListeners('warning')
    process.on('warning', ({ message }) => this.messages.push(message))
  }

  [Symbol.dispose](): void {
    process.removeAllListeners('warning')
    for (const printer of this.#printers) process.on('warning', printer)
  }
}
