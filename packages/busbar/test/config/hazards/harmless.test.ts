import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Files } from '../../support/app/test-folder.ts'
import { hazardsOf, other } from './support.ts'

describe('busbar check does not warn of', () => {
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
    it(what, async () => {
      assert.deepEqual(await hazardsOf({ ...other, ...files }), [])
    })
})
