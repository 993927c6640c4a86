/** The flags of the process that starts an app, in the threads and processes of its services. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { folderWithBusbar } from '../../support/app/test-folder.ts'

const files = {
  // A module: the thread that reads it has such flags, too.
  'app/busbar.config.mjs': `export default {
    gateway: { port: 0 },
    services: { one: './one', two: { path: './one', run: 'process' } },
  }`,
  'app/one/index.mjs': `
    import { createServer } from 'node:http'
    const { loaded, required } = globalThis
    const seen = { loaded, required, variable: process.env.FROM_FILE, limit: Error.stackTraceLimit }
    createServer((_, response) => response.end(JSON.stringify(seen))).listen(3000)`,
  'pre load.mjs': 'globalThis.loaded = true',
  'pre.cjs': 'globalThis.required = true',
  'variables.env': 'FROM_FILE=yes',
}

const host = `
  import { startApp } from 'busbar'
  await using app = await startApp('./app')
  const seen = ['one', 'two'].map(async (name) => await (await app.fetch(name, '/')).json())
  console.log(JSON.stringify(await Promise.all(seen)))`

for (const [what, flags] of [
  ['relative modules', ['--import', './pre%20load.mjs', '-r', './pre.cjs', '--stack-trace-limit=7']],
  [
    'relative modules, with equals signs',
    ['--import=./pre%20load.mjs', '--require=./pre.cjs', '--stack-trace-limit=7'],
  ],
] as const)
  test(`${what} are found, and other flags are inherited`, async () => {
    const seen = { loaded: true, required: true, limit: 7 }
    assert.deepEqual(await seenWith(flags), [seen, seen])
  })

test('files of variables and flags of the test runner are not repeated', async () => {
  const runner = ['--test-reporter', 'tap', '--test-reporter-destination', 'stdout', '--test-name-pattern', 'x']
  const seen = await seenWith(['--env-file=variables.env', ...runner])
  assert.deepEqual(
    seen.map(({ variable }) => variable),
    ['yes', 'yes'],
  )
})

test('code on the command line is not repeated, and neither is its type', async () => {
  const seen = await seenWith(['--input-type=module', '--import', './pre%20load.mjs', '-e', host], [])
  assert.deepEqual(
    seen.map(({ loaded }) => loaded),
    [true, true],
  )
})

async function seenWith(flags: readonly string[], script = ['host.mjs']): Promise<Record<string, unknown>[]> {
  using folder = folderWithBusbar({ ...files, 'host.mjs': host })
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...script], { cwd: folder.path })
  return JSON.parse(stdout) as Record<string, unknown>[]
}
