/** Relative paths refer to the program's folder, at every placement and in every Node function. */
import assert from 'node:assert/strict'
import fs, { chmodSync, cpSync, readdirSync, symlinkSync } from 'node:fs'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Service } from '../../src/config/app.ts'
import {
  fileFunctions,
  globs,
  otherFileFunctions,
  pathless,
} from '../../src/shared/working-directory/file-functions.ts'
import { TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { PlainProgram } from '../support/app/plain-program.ts'

const source = `${import.meta.dirname}/programs/paths`

/** The program's files, and what it reads. */
function programFolder(): TestFolder {
  const folder = new TestFolder({
    'data/one.txt': 'one',
    'data/two.txt': 'two',
    'data/deep/three.txt': 'three',
    'data/other.env': 'FROM_OTHER=other\nSET_BEFORE=file\n',
    'sub/index.js': '',
    '.env': 'FROM_FILE=file\n',
    'hello.sh': '#!/bin/sh\necho hello\n',
    'data/hello.sh': '#!/bin/sh\necho data\n',
    'child.mjs': 'console.log(process.cwd())',
    'thread.mjs': `import { parentPort, workerData } from 'node:worker_threads'; parentPort.postMessage([workerData])`,
    'package.json': '{}',
  })
  for (const file of ['hello.sh', 'data/hello.sh']) chmodSync(folder.at(file), 0o755)
  symlinkSync('one.txt', folder.at('data/link'))
  symlinkSync('deep', folder.at('data/link-to-deep'))
  cpSync(source, folder.path, { recursive: true })
  return folder
}

type Results = Record<string, unknown>

/** Also in the folder that the tests run in. */
const shared = new Set(['package.json'])

const env = { SET_BEFORE: 'before' }

async function ask(port: number, folder: TestFolder, path = ''): Promise<Results> {
  const text = await (await fetch(`http://127.0.0.1:${port}${path}`)).text()
  // Messages with absolute paths are compared too.
  return JSON.parse(text.replaceAll(folder.path, '<folder>')) as Results
}

/** Shows only the differences. */
function compare(actual: Results, expected: Results): void {
  const names = Object.keys(expected).filter((name) => !isDeepStrictEqual(actual[name], expected[name]))
  const pick = (from: Results): Results => Object.fromEntries(names.map((name) => [name, from[name]]))
  assert.deepEqual(pick(actual), pick(expected))
}

const places = {
  shared: { run: 'shared' },
  thread: { run: 'thread' },
  group: { run: 'thread', group: 'both' },
  process: { run: 'process' },
} as const satisfies Record<string, Partial<Service>>

for (const [name, place] of Object.entries(places))
  test(`functions resolve relative paths as under plain node, in ${name} form`, async () => {
    using plainFolder = programFolder()
    using folder = programFolder()
    using other = programFolder()
    await using plain = await PlainProgram.start(plainFolder.at('index.mjs'), env)
    const services = {
      it: { file: folder.at('index.mjs'), ...place, env },
      // With two programs, the working directory of the process is not the program's folder.
      other: { file: other.at('index.mjs'), ...place, env },
    }
    const routes = [{ host: undefined, prefix: '/other', service: 'other' }]
    await using app = await TestApp.start({ services, gateway: { routes } })
    const expected = await ask(plain.port, plainFolder)
    compare(await ask(app.port, folder), expected)
    compare(await ask(app.port, other, '/other'), expected)
    // Files that it wrote in its folder are nowhere else.
    const written = new Set(readdirSync(folder.path).filter((name) => !readdirSync(source).includes(name)))
    assert.deepEqual(
      readdirSync(process.cwd()).filter((name) => written.has(name) && !shared.has(name)),
      [],
    )
  })

// A separate test, because Node 24 crashes if it writes a heap snapshot after databases were open.
test('a heap snapshot is written into the folder of the program, with or without a name', async () => {
  const server = `
    import { createServer } from 'node:http'
    import { existsSync, statSync } from 'node:fs'
    import { writeHeapSnapshot } from 'node:v8'
    createServer((_, response) => {
      const names = [writeHeapSnapshot('own.heapsnapshot'), writeHeapSnapshot()]
      response.end(JSON.stringify(names.map((name) => [name, statSync(name).size > 0])))
    }).listen(Number(process.env.PORT ?? 0))`
  using folder = new TestFolder({ 'index.mjs': server, 'other/index.mjs': server })
  const services = {
    it: { file: folder.at('index.mjs'), run: 'thread' },
    other: folder.at('other', 'index.mjs'),
  } as const
  await using app = await TestApp.start({ services, gateway: { routes: [] } })
  const [own, made] = (await (await fetch(app.url)).json()) as [string, boolean][]
  assert.deepEqual(own, ['own.heapsnapshot', true])
  assert.match(made![0], /^Heap-\d{8}-\d{6}-\d+-0\.heapsnapshot$/)
  assert.equal(made![1], true)
  assert.deepEqual(readdirSync(folder.path).sort(), [made![0], 'index.mjs', 'other', 'own.heapsnapshot'].sort())
})

for (const run of ['shared', 'thread', 'process'] as const)
  test(`a thread that a program starts resolves paths as the program, in ${run} form`, async () => {
    const server = `
      import { createServer } from 'node:http'
      import { once } from 'node:events'
      import { Worker } from 'node:worker_threads'
      createServer(async (_, response) => {
        const worker = new Worker('./own.mjs')
        response.end(JSON.stringify((await once(worker, 'message'))[0]))
      }).listen(Number(process.env.PORT ?? 0))`
    const own = `
      import { execSync } from 'node:child_process'
      import { readFileSync, writeFileSync } from 'node:fs'
      import { readFile } from 'node:fs/promises'
      import { once } from 'node:events'
      import { basename, resolve } from 'node:path'
      import { parentPort, Worker, workerData } from 'node:worker_threads'
      const deeper = workerData === 'deeper' ? [] : (await once(new Worker('./own.mjs', { workerData: 'deeper' }), 'message'))[0]
      writeFileSync('out.txt', 'o')
      parentPort.postMessage([
        ...[readFileSync('a.txt', 'utf8'), await readFile('a.txt', 'utf8'), String(execSync('cat a.txt'))],
        ...[basename(process.cwd()), resolve('x') === process.cwd() + '/x', readFileSync('out.txt', 'utf8'), ...deeper],
      ])`
    const files = { 'index.mjs': server, 'own.mjs': own, 'a.txt': 'a' }
    const inFolder = (name: string): Record<string, string> =>
      Object.fromEntries(Object.entries(files).map(([file, content]) => [`${name}/${file}`, content]))
    using folder = new TestFolder({ ...inFolder('it'), ...inFolder('other') })
    const services = { it: { file: folder.at('it/index.mjs'), run }, other: folder.at('other/index.mjs') }
    const routes = [{ host: undefined, prefix: '/other', service: 'other' }]
    await using app = await TestApp.start({ services, gateway: { routes } })
    const found = ['a', 'a', 'a', 'it', true, 'o']
    assert.deepEqual(await (await fetch(app.url)).json(), [...found, ...found])
  })

test('every function of fs is covered', () => {
  const functionsOf = (from: object): string[] =>
    Object.entries(from).flatMap(([name, value]) =>
      typeof value === 'function' && !name.startsWith('_') ? [name] : [],
    )
  const known = new Set<string>([...Object.keys(otherFileFunctions), ...globs, ...pathless])
  for (const name of Object.keys(fileFunctions)) known.add(name)
  const base = (name: string): string => name.replace(/Sync$/, '')
  const isKnown = (name: string): boolean => known.has(name) || known.has(base(name))
  assert.deepEqual(
    functionsOf(fs).filter((name) => !isKnown(name)),
    [],
  )
  assert.deepEqual(
    functionsOf(fs.promises).filter((name) => !isKnown(name)),
    [],
  )
})
