import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findHazards } from '../../src/config/hazards.ts'
import type { Hazard, HazardCode } from '../../src/config/hazards/hazard.ts'
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

type OfOneProgram = Exclude<
  HazardCode,
  'COPY_MOVED' | 'METRICS_SHARED' | 'METRICS_PER_WORKER' | 'ROUTE_HOST' | 'ROUTE_UNREACHABLE' | 'COMMAND_NOT_FOUND'
>

const found: Readonly<Record<OfOneProgram, readonly Case[]>> = {
  ENTRY_NOT_MODULE: [
    {
      what: 'a file of another kind',
      files: { 'web/index.js': '', 'web/package.json': { main: 'index.html' }, 'web/index.html': '<html>' },
      says: ['web cannot start', 'index.html (main) is a .html file', '`command`'],
    },
    {
      what: 'a script of another language',
      files: { 'web/index.js': '', 'web/package.json': { scripts: { start: 'node run' } }, 'web/run': '#!/bin/sh\nx' },
      says: ['run (scripts.start) is a script of /bin/sh'],
    },
  ],
  FLAG_REFUSED: [
    {
      what: 'a flag that there is not',
      files: { 'web/index.js': '', 'web/package.json': { scripts: { start: 'node --no-such-flag index.js' } } },
      says: ['scripts.start of', 'web/package.json', 'bad option: --no-such-flag', process.version],
    },
    {
      what: 'a value that V8 does not take',
      files: { 'web/index.js': '', 'web/package.json': { scripts: { start: 'node --stack-size=much index.js' } } },
      says: ['--stack-size=much'],
    },
  ],
  HTTP_PATCHED: [
    {
      what: 'restify',
      files: { 'web/index.js': '', 'web/package.json': { dependencies: { restify: '11' } } },
      says: ['web changes the prototypes of node:http, also for other', 'restify', "services.web.run be 'thread'"],
    },
    {
      what: 'an import of restify',
      files: { 'web/index.js': '\nconst restify = require("restify")' },
      says: ['restify in index.js:2'],
    },
    {
      what: 'a method that is added',
      files: { 'web/index.js': 'http.ServerResponse.prototype.json = function (value) {}' },
      says: ['index.js:1'],
    },
    {
      what: 'several',
      files: { 'web/index.mjs': '\nObject.assign(IncomingMessage.prototype, { id() {} })' },
      says: ['index.mjs:2'],
    },
  ],
  RELATIVE_LOG: [
    {
      what: 'pino',
      files: { 'web/index.js': "const pino = require('pino')\npino(pino.destination('logs/web.log'))" },
      says: ['index.js:2', 'path.resolve', 'stdout'],
    },
    {
      what: "pino's transports",
      files: {
        'web/index.js': "require('pino')({ transport: { target: 'pino/file', options: { destination: './a.log' } } })",
      },
      says: ['index.js:1'],
    },
    {
      what: 'winston',
      files: { 'web/index.mjs': "import winston from 'winston'\nnew winston.transports.File({ filename: 'web.log' })" },
      says: ['index.mjs:2'],
    },
    {
      what: 'bunyan',
      files: { 'web/index.js': "require('bunyan').createLogger({ streams: [{ path: 'web.log' }] })" },
      says: ['index.js:1'],
    },
  ],
  TYPE_IMPORT: [
    {
      what: 'an interface',
      files: {
        'web/index.ts': '// first\nimport { make, Shape } from "./shape.ts"',
        'web/shape.ts': 'export interface Shape { a: 1 }\nexport const make = (): Shape => ({ a: 1 })',
      },
      says: ['Shape of ./shape.ts in index.ts:2', 'import type'],
    },
    {
      what: 'types by any way to export one',
      files: {
        'web/index.ts':
          'import { A, B as X, C, D, E } from "./all.ts"\nimport Own, { type F } from "./default.ts"\nexport { G } from "./more.ts"',
        'web/all.ts':
          'export type A = 1\nexport declare const B: 1\ninterface C {}\nexport type { C }\nexport { type D } from "./more.ts"\nexport * from "./more.ts"',
        'web/more.ts': 'export type D = 1\nexport interface E {}\nexport type G<T> = T',
        'web/default.ts': 'export default interface Own {}\nexport type F = 1',
      },
      says: ['A of ./all.ts in index.ts:1', 'B of', 'C of', 'and 4 more'],
    },
    {
      what: 'what a package and Node have for types only',
      files: {
        'web/index.ts': 'import { AddressInfo } from "node:net"\nimport lib, { Options } from "lib"',
        'web/node_modules/lib/index.js': 'module.exports = require("./lib/main") // Options',
        'web/node_modules/lib/lib/main.js': 'exports.lib = function () { throw new Error("no Options") }',
      },
      says: ['AddressInfo of node:net in index.ts:1', 'Options of lib in index.ts:2'],
    },
  ],
  RELATIVE_PATH: [
    {
      what: 'better-sqlite3',
      files: { 'web/index.js': "const Database = require('better-sqlite3')\nnew Database('data/shop.db')" },
      says: ['web gives', 'index.js:2', 'path.resolve'],
    },
    {
      what: 'sqlite3, in a file that the entry leads to',
      files: {
        'web/index.js': 'require("./lib/a")',
        'web/lib/a.js': 'import("../b.js")',
        'web/b.js': "import sqlite3 from 'sqlite3'\n\nnew sqlite3.Database(`./shop.sqlite`)",
      },
      says: ['b.js:3'],
    },
    {
      what: 'lmdb',
      files: { 'web/index.mjs': "import { open } from 'lmdb'\nopen({ path: './cache' })" },
      says: ['index.mjs:2'],
    },
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
      'imports of values',
      {
        'web/index.ts': `
          import { Server } from 'node:http'
          import fresh, { Named, Made, Wrapped } from 'lib'
          import { star } from 'star'
          import { gone } from 'not-installed'
          import { Both, Class, kind, unpacked, renamed, later, type Shape } from './all.ts'
          import type { Shape as Same } from './all.ts'
          import { type Shape as Third } from './all.ts'
          import Default from './all.ts'
          import data from './data.json' with { type: 'json' }`,
        'web/all.ts': `
          export interface Shape {}
          export const Both = 1
          export type Both = 1
          export abstract class Class { constructor(public_: readonly string[], all: Map<string, readonly string[]>) {} }
          export const enumerated = 1, kind = 2
          export type kind = 1
          export const { unpacked } = { unpacked: 1 }
          const inner = 1
          export { inner as renamed }
          export * from './later.ts'
          export default function () {}`,
        'web/later.ts': 'export async function later() {}',
        'web/data.json': '{}',
        'web/node_modules/lib/index.js': 'exports.Named = 1\nrequire("./more")(exports)\n__export(exports, "Wrapped")',
        'web/node_modules/lib/more.js': 'module.exports = (to) => { to.Made = 1 }',
        'web/node_modules/star/index.js': 'export * from "lib"',
      },
    ],
    [
      'flags that Node takes, a file without an extension, and nothing that it is asked to run',
      {
        'web/package.json': {
          scripts: { start: 'node --max-old-space-size=100 --import ./gone.js -r ./gone.cjs bin/www' },
        },
        'web/index.js': '',
        'web/bin/www': '#!/usr/bin/env node\nrequire("node:http")',
      },
    ],
    [
      'log files that are absolute, and file names of others',
      {
        'web/index.js':
          "require('pino')({ destination: '/var/log/a.log' }); pino.destination(1); new File({ filename: join(dir, 'a.log') })",
        'other/index.js': "multer({ filename: 'x', destination: 'uploads' })",
      },
    ],
    [
      'objects that are made of the prototypes of http',
      {
        'web/index.js':
          'const req = Object.create(http.IncomingMessage.prototype)\nconst own = res.prototype\nif (ServerResponse.prototype.writeHead === x) {}',
      },
    ],
    [
      'files that the entry does not lead to',
      {
        'web/index.js': '',
        'web/test/a.js': 'require("cluster")',
        'web/node_modules/x/index.js': 'require("cluster")',
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
      'relative paths for Node, an entry that is no source',
      {
        'web/index.js': 'readFileSync("./a.txt"); new DatabaseSync("a.db"); process.chdir("x"); import("./data.json")',
        'web/data.json': '{}',
      },
    ],
    [
      'databases in memory and at absolute paths',
      { 'web/index.js': "require('better-sqlite3')\nnew Database(':memory:'); new Database('/data/a.db')" },
    ],
  ]
  for (const [what, files] of harmless)
    it(`nothing: ${what}`, async () => {
      assert.deepEqual(await hazardsOf({ ...other, ...files }), [])
    })

  it('no relative path in an app of one service, which has its folder', async () => {
    const native = "require('better-sqlite3')\nnew Database('a.db')"
    assert.deepEqual(await hazardsOf({ 'web/index.js': native }), [])
  })

  it('no restify in a thread of its own, nor in a process', async () => {
    const files: Files = { ...other, 'web/index.js': 'require("restify")' }
    for (const run of ['thread', 'process']) assert.deepEqual(await hazardsOf(files, { defaults: { run } }), [])
    const grouped = { web: { path: './web', group: 'a' }, other: { path: './other', group: 'a' } }
    assert.deepEqual(
      (await hazardsOf(files, { services: grouped })).map(({ code }) => code),
      ['HTTP_PATCHED'],
    )
  })

  it('FLAG_REFUSED: of a process, by its config and its variables', async () => {
    const web = (more: object): object => ({ services: { web: { path: './web', run: 'process', ...more } } })
    for (const [more, says] of [
      [{ nodeOptions: ['--no-such-flag'] }, /services\.web\.nodeOptions: bad option: --no-such-flag/],
      [{ env: { NODE_OPTIONS: '--expose-internals' } }, /NODE_OPTIONS: --expose-internals is not allowed/],
    ] as const) {
      const [hazard] = await hazardsOf({ 'web/index.js': '' }, web(more))
      assert.equal(hazard?.code, 'FLAG_REFUSED')
      assert.match(hazard.message, says)
    }
    assert.deepEqual(await hazardsOf({ 'web/index.js': '' }, web({ nodeOptions: ['--expose-gc', 'ran.js'] })), [])
  })

  it('COMMAND_NOT_FOUND: one that is nowhere, and a file that may not be executed', async () => {
    const command = async (command: string, more: object = {}, files: Files = {}): Promise<string[]> =>
      (await hazardsOf({ 'web/readme': '', ...files }, { services: { web: { path: './web', command, ...more } } })).map(
        ({ code, message, hint }) => `${code} ${message} ${hint}`,
      )
    assert.match(
      (await command('no-such-command --port $PORT')).join(),
      /^COMMAND_NOT_FOUND services\.web\.command: no-such-command is neither/,
    )
    assert.match((await command('./run.sh', {}, { 'web/run.sh': '' })).join(), /web\/run\.sh is no file that may be/)
    assert.match((await command('node x.js', { env: { PATH: '/nowhere' } })).join(), /COMMAND_NOT_FOUND/)
    assert.deepEqual(await command('node x.js'), [])
    assert.deepEqual(await command(JSON.stringify(process.execPath)), [])
  })

  it('ROUTE_HOST: a path without its slash', async () => {
    const routes = {
      shop: 'web',
      'shop/api': 'web',
      '/cart': 'web',
      localhost: 'web',
      '::1': 'web',
      'a.example': 'web',
    }
    const hazards = await hazardsOf({ 'web/index.js': '' }, { gateway: { routes } })
    assert.deepEqual(
      hazards.map(({ code, services }) => [code, services]),
      [
        ['ROUTE_HOST', ['web']],
        ['ROUTE_HOST', ['web']],
      ],
    )
    assert.match(hazards[0]!.message, /gateway\.routes\["shop"\]/)
    assert.match(hazards[1]!.hint, /"\/shop\/api"/)
  })

  it('ROUTE_UNREACHABLE: what no client sends', async () => {
    const never: Readonly<Record<string, RegExp>> = {
      '/caf\u00e9': /Write "\/caf%C3%A9"/,
      '/a/%2e%2E/b': /dot segment/,
      '[::0:1]': /Write "\[::1\]"/,
      '127.1': /Write "127\.0\.0\.1"/,
      '10.0.0.300': /no address/,
      [`${'a'.repeat(64)}.example`]: /that long/,
    }
    const fine = ['/caf%C3%A9', '/a.b/~c', 'a_b.example', '127.0.0.1/x', '[::1]', 'xn--bcher-kva.example', '1.example']
    for (const [key, says] of Object.entries(never)) {
      const [hazard, ...more] = await hazardsOf({ 'web/index.js': '' }, { gateway: { routes: { [key]: 'web' } } })
      assert.deepEqual([hazard?.code, more], ['ROUTE_UNREACHABLE', []], key)
      assert.match(`${hazard?.message} ${hazard?.hint}`, says)
    }
    const routes = Object.fromEntries(fine.map((key) => [key, 'web']))
    assert.deepEqual(await hazardsOf({ 'web/index.js': '' }, { gateway: { routes } }), [])
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
      'web/a.js': 'require("./index.js")\nrequire("cluster")',
    })
    assert.deepEqual(
      hazards.map(({ message }) => message.match(/a\.js:\d+/g)),
      [['a.js:2']],
    )
  })
})
