import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HazardCode } from '../../../src/config/hazards/hazard.ts'
import type { Files } from '../../support/app/test-folder.ts'
import { hazardsOf, other } from './support.ts'

interface Case {
  readonly what: string
  readonly files: Files
  readonly says: readonly string[]
}

type OfOneProgram = Exclude<
  HazardCode,
  | 'COPY_MOVED'
  | 'METRICS_SHARED'
  | 'METRICS_PER_WORKER'
  | 'ROUTE_HOST'
  | 'ROUTE_UNREACHABLE'
  | 'COMMAND_NOT_FOUND'
  | 'EXPORT_UNENCRYPTED'
  | 'CLUSTER_UNENCRYPTED'
>

const found: Readonly<Record<OfOneProgram, readonly Case[]>> = {
  ENTRY_NOT_MODULE: [
    {
      what: 'a file that Node does not run',
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
      what: 'an unknown flag',
      files: { 'web/index.js': '', 'web/package.json': { scripts: { start: 'node --no-such-flag index.js' } } },
      says: ['scripts.start of', 'web/package.json', 'bad option: --no-such-flag', process.version],
    },
    {
      what: 'an invalid value of a V8 flag',
      files: { 'web/index.js': '', 'web/package.json': { scripts: { start: 'node --stack-size=much index.js' } } },
      says: ['--stack-size=much'],
    },
  ],
  HTTP_PATCHED: [
    {
      what: 'restify',
      files: { 'web/index.js': '', 'web/package.json': { dependencies: { restify: '11' } } },
      says: [
        'web changes the prototypes of node:http, which it shares with other',
        'restify',
        "services.web.run to 'thread'",
      ],
    },
    {
      what: 'an import of restify',
      files: { 'web/index.js': '\nconst restify = require("restify")' },
      says: ['restify in index.js:2'],
    },
    {
      what: 'an added method',
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
      what: 'all ways to export a type',
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
      what: 'types of a package and of Node',
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
      what: 'sqlite3, in an imported file',
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
      what: 'an import of JavaScript that is not built',
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
})
