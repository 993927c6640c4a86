import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findHazards, type Hazard, type HazardCode } from '../../src/config/hazards.ts'
import { loadApp } from '../../src/config/load.ts'
import { type Files, TestFolder } from '../support/folder.ts'

/** The hazards of an app whose services are the folders at the top of `files` that have an `index.*`. */
async function hazardsOf(files: Files, config: object = {}): Promise<Hazard[]> {
  const folders = Object.keys(files).flatMap((name) => /^(\w+)\/index\./.exec(name)?.[1] ?? [])
  const services = Object.fromEntries(folders.map((name) => [name, `./${name}`]))
  using folder = new TestFolder({
    ...files,
    'busbar.config.json': { defaults: { run: 'shared' }, services, ...config },
  })
  return await findHazards(await loadApp(folder.path, { env: {} }))
}

const other: Files = { 'other/index.js': 'require("node:http")' }

interface Case {
  readonly what: string
  readonly files: Files
  readonly says: readonly string[]
}

const found: Readonly<Record<Exclude<HazardCode, 'METRICS_SHARED' | 'METRICS_PER_WORKER'>, readonly Case[]>> = {
  CHDIR: [
    {
      what: 'process.chdir',
      files: { 'web/index.js': '\n\nprocess.chdir(__dirname)' },
      says: ['web calls', 'index.js:3'],
    },
    {
      what: 'an imported chdir',
      files: { 'web/index.mjs': 'import { chdir } from "node:process"\nchdir("x")' },
      says: ['index.mjs:2'],
    },
    {
      what: 'in a file that the entry leads to',
      files: {
        'web/index.js': 'require("./lib/a")',
        'web/lib/a.js': 'import("../b.js")',
        'web/b.js': 'process.chdir("x")',
      },
      says: ['b.js:1'],
    },
  ],
  RELATIVE_PATH: [
    {
      what: 'readFileSync',
      files: { 'web/index.js': 'fs.readFileSync("./views/a.html")' },
      says: ['index.js:1', 'path.resolve'],
    },
    { what: 'createReadStream', files: { 'web/index.js': "createReadStream('data/a.txt')" }, says: ['index.js:1'] },
    { what: 'node:sqlite', files: { 'web/index.js': 'new DatabaseSync(`shop.db`)' }, says: ['index.js:1'] },
  ],
  CLUSTER: [
    {
      what: 'import',
      files: { 'web/index.mjs': 'import cluster from "node:cluster"' },
      says: ['index.mjs:1', '`workers`'],
    },
    { what: 'require', files: { 'web/index.js': "const cluster = require('cluster')" }, says: ['index.js:1'] },
  ],
  NOT_STRIPPABLE: [
    {
      what: 'an enum',
      files: { 'web/index.ts': 'export const enum A { b }' },
      says: ['an enum in index.ts:1', 'Build it'],
    },
    {
      what: 'a namespace',
      files: { 'web/index.ts': 'namespace A { export const b = 1 }' },
      says: ['a namespace in index.ts:1'],
    },
    {
      what: 'a parameter property',
      files: { 'web/index.ts': 'class A {\n  constructor(\n    private readonly b: string) {}\n}' },
      says: ['a parameter property in index.ts:2'],
    },
    {
      what: 'decorators',
      files: { 'web/index.ts': '\n@Controller("x")\nclass A { constructor(@Inject() b: unknown) {} }' },
      says: ['a decorator in index.ts:2'],
    },
    {
      what: 'an import assignment',
      files: { 'web/index.ts': 'import fs = require("fs")' },
      says: ['an import assignment in index.ts:1'],
    },
    { what: '.tsx', files: { 'web/index.ts': 'import "./page.tsx"', 'web/page.tsx': '' }, says: ['JSX in page.tsx'] },
    {
      what: 'an import without its extension',
      files: { 'web/index.ts': 'import { a } from "./lib/a"', 'web/lib/a.ts': '' },
      says: ['the import of ./lib/a', 'index.ts'],
    },
    {
      what: 'an import of JavaScript that is to be built',
      files: { 'web/index.ts': 'import { a } from "./a.js"', 'web/a.ts': '' },
      says: ['the import of ./a.js'],
    },
  ],
  NATIVE_ADDON: [
    {
      what: 'a binary for the main thread',
      files: {
        'web/index.js': '',
        'web/package.json': { dependencies: { old: '1' } },
        'web/node_modules/old/build/Release/x.node': 'ELF node_module_register',
      },
      says: ['web depends on old'],
    },
    {
      what: 'sources with nan',
      files: {
        'web/index.js': '',
        'web/package.json': { dependencies: { old: '1' } },
        'node_modules/old/binding.gyp': '{}',
        'node_modules/old/package.json': { dependencies: { nan: '2' } },
      },
      says: ['web depends on old'],
    },
  ],
}

describe('busbar check warns of', () => {
  for (const [code, cases] of Object.entries(found))
    for (const { what, files, says } of cases)
      it(`${code}: ${what}`, async () => {
        const hazards = await hazardsOf({ ...files, ...other })
        assert.deepEqual(
          hazards.map((hazard) => hazard.code),
          [code],
        )
        assert.deepEqual(hazards[0]?.services, ['web'])
        const told = `${hazards[0]?.message} ${hazards[0]?.hint}`
        for (const part of says) assert.ok(told.includes(part), told)
      })

  const harmless: readonly [what: string, files: Files][] = [
    [
      'comments and strings',
      {
        'web/index.ts':
          '// process.chdir("x")\n/* enum A { */\nconst a = "process.chdir("\nconst b = `\n@no\nenum B {`\n/*\n@internal\n*/',
      },
    ],
    [
      'paths that are absolute',
      {
        'web/index.js':
          'readFileSync("/etc/hosts"); readFileSync(join(dir, "a")); readFileSync(`${dir}/a`); new DatabaseSync(":memory:"); readFileSync(new URL("./a", base))',
      },
    ],
    [
      'types that strip',
      {
        'web/index.ts':
          'declare enum A { b }\nclass C { private x = 1; constructor(x: string) {} }\nimport type { D } from "./d"',
        'web/d.ts': 'export enum D { a }',
      },
    ],
    [
      'TypeScript with a loader of its own',
      {
        'web/package.json': { scripts: { start: 'node --import tsx index.ts' } },
        'web/index.ts': 'export enum A { b }',
      },
    ],
    [
      'JavaScript that is not looked at as TypeScript',
      { 'web/index.js': 'const a = require("./lib")', 'web/lib/index.js': '' },
    ],
    [
      'files that the entry does not lead to',
      {
        'web/index.js': '',
        'web/test/a.js': 'process.chdir("x")',
        'web/node_modules/x/index.js': 'process.chdir("x")',
      },
    ],
    [
      'add-ons for several threads',
      {
        'web/index.js': '',
        'web/package.json': { dependencies: { a: '1', b: '1', c: '1', gone: '1' } },
        'web/node_modules/a/build/Release/a.node': 'ELF napi_create_object',
        'web/node_modules/b/prebuilds/b.node': 'ELF node_register_module_v137',
        'web/node_modules/c/binding.gyp': '{}',
        'web/node_modules/c/package.json': { dependencies: { 'node-addon-api': '8' } },
      },
    ],
    [
      'signal handlers',
      {
        'web/index.js': 'process.on("SIGTERM", () => process.exit())',
        'other/index.js': 'process.on("SIGTERM", () => {})',
      },
    ],
    [
      'a method of the same name, an entry that is no source',
      { 'web/index.js': 'shell.chdir("x"); import("./data.json")', 'web/data.json': '{}' },
    ],
  ]
  for (const [what, files] of harmless)
    it(`nothing: ${what}`, async () => {
      assert.deepEqual(await hazardsOf({ ...other, ...files }), [])
    })

  it('no relative path in an app of one service, which has its folder', async () => {
    assert.deepEqual(await hazardsOf({ 'web/index.js': 'readFileSync("a.txt")' }), [])
  })

  it('METRICS_SHARED: services that find the same prom-client, and only those', async () => {
    const prom = { 'prom-client/package.json': { main: 'x.js' }, 'prom-client/x.js': '' }
    const shared = Object.fromEntries(Object.entries(prom).map(([name, content]) => [`node_modules/${name}`, content]))
    const own = Object.fromEntries(Object.entries(prom).map(([name, content]) => [`c/node_modules/${name}`, content]))
    const hazards = await hazardsOf({
      ...shared,
      ...own,
      'node_modules/fastify-metrics/index.js': '',
      'a/index.js': 'const client = require("prom-client")',
      'b/index.js': '',
      'b/package.json': { dependencies: { 'fastify-metrics': '1' } },
      'c/index.mjs': "import client from 'prom-client'",
      'd/index.js': '',
    })
    assert.deepEqual(
      hazards.map(({ code, services }) => [code, services]),
      [['METRICS_SHARED', ['a', 'b']]],
    )
  })

  it('METRICS_PER_WORKER: a scrape that sees one worker of several', async () => {
    const files: Files = { 'node_modules/prom-client/index.js': '', 'a/index.js': 'require("prom-client")' }
    assert.deepEqual(
      (await hazardsOf(files, { workers: 2 })).map(({ code, services }) => [code, services]),
      [['METRICS_PER_WORKER', ['a']]],
    )
    assert.deepEqual(await hazardsOf(files), [])
  })

  it('a circle of imports only once', async () => {
    const hazards = await hazardsOf({
      'web/index.js': 'require("./a.js")',
      'web/a.js': 'require("./index.js")\nprocess.chdir("x")',
    })
    assert.deepEqual(
      hazards.map(({ message }) => message.match(/a\.js:\d+/g)),
      [['a.js:2']],
    )
  })
})
