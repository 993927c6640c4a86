/**
 * The code of the package is bundled. Programs, Busbar's own threads and processes, and the tests
 * here load it by different entry points, which must share their modules.
 */
import assert from 'node:assert/strict'
import { cp, rm } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { installPacked } from '../support/app/packed-package.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const env = { NODE_OPTIONS: '' }
const entryPoints = {
  busbar: ['index.js', () => import('../../src/index.ts')],
  'busbar/contract': ['contract/index.js', () => import('../../src/contract/index.ts')],
  'busbar/client': ['contract/client-entry.js', () => import('../../src/contract/client-entry.ts')],
  'busbar/fetch': ['contract/fetch-entry.js', () => import('../../src/contract/fetch-entry.ts')],
  'busbar/adapters': ['gateway/typed/adapters/index.js', () => import('../../src/gateway/typed/adapters/index.ts')],
} as const
type Module = Readonly<Record<string, unknown>>

/** Answers with what it has of Busbar's modules, and of an error that Busbar has thrown. */
const program = `
  import { createServer } from 'node:http'
  import { BusbarError, shared } from 'busbar'
  import * as contract from 'busbar/contract'
  import { client } from 'busbar/client'
  import { stock } from '../stock/contract.ts'
  const typed = client(stock)
  const caught = (run) => run.then(() => undefined, (error) => error)
  createServer(async (request, response) => {
    const refused = await caught(typed.count('lamp'))
    const count = await caught(Promise.resolve().then(() => shared.counter('calls').add(1)))
    response.end(JSON.stringify({
      classes: [contract.BusbarError, refused.constructor].map((found) => found === BusbarError),
      code: refused.code,
      counter: count?.code ?? 'counted',
    }))
  }).listen(3000)`

let folder: TestFolder

before(async () => {
  folder = new TestFolder({
    'package.json': { name: 'shop', private: true, type: 'module' },
    'busbar.config.ts': `
      import { defineApp } from 'busbar'
      export default defineApp({
        defaults: { run: (process.env.RUN ?? 'shared') as 'shared' },
        gateway: { port: 0, entry: 'web' },
        services: { web: { path: './web', needs: ['stock'] }, stock: './stock' },
      })`,
    'web/index.ts': program,
    'stock/contract.ts': `
      import { fn, service, type } from 'busbar/contract'
      export const stock = service('stock', { count: fn({ input: type<string>(), output: type<number>() }) })`,
    'stock/index.ts': `
      import { stock } from './contract.ts'
      export default stock.implement({
        count: async (item) => { throw new Error(item) },
      })`,
  })
  await installPacked(folder.path)
})

after(() => folder[Symbol.dispose]())

for (const [name, [file, source]] of Object.entries(entryPoints))
  test(`${name} exports what its source does`, async () => {
    assert.deepEqual(Object.keys(await packed(file)).toSorted(), Object.keys(await source()).toSorted())
  })

test('the entry points have one class of errors', async () => {
  const [first, ...others] = await Promise.all(
    ['index.js', 'contract/index.js', 'contract/client-entry.js'].map((file) => packed(file)),
  )
  for (const other of others) assert.equal(other['BusbarError'], first!['BusbarError'])
})

for (const [run, counter] of [
  ['shared', 'counted'],
  ['thread', 'counted'],
  ['process', 'SHARED_UNAVAILABLE'],
] as const)
  test(`run: '${run}': a program has the modules of its worker`, async () => {
    const options = { cwd: folder.path, env: { ...env, RUN: run }, entry: bin(folder) }
    await using busbar = new BusbarProcess(['start'], options)
    assert.deepEqual(await (await fetch(await busbar.url())).json(), {
      classes: [true, true],
      code: 'INTERNAL',
      counter,
    })
  })

test('each accelerator can be deleted', async () => {
  using copy = new TestFolder({})
  await cp(folder.path, copy.path, { recursive: true })
  await rm(copy.at('node_modules/busbar/dist/accelerators'), { recursive: true })
  const { code, stdout, stderr } = await BusbarProcess.run(['check', '--json'], {
    cwd: copy.path,
    env,
    entry: bin(copy),
  })
  assert.equal(code, 0, stderr)
  const { accelerators } = JSON.parse(stdout) as { accelerators: { name: string; why: string }[] }
  const wanted = accelerators.filter(({ name }) => name !== 'batch-writes')
  assert.ok(wanted.length >= 3)
  for (const { name, why } of wanted) assert.equal(why, 'this Busbar comes without it', name)
})

async function packed(file: string): Promise<Module> {
  const { href } = pathToFileURL(folder.at('node_modules/busbar/dist', file))
  return (await import(href)) as Module
}

function bin({ path }: TestFolder): string {
  return `${path}/node_modules/busbar/bin/busbar.js`
}
