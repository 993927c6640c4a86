import { app, program, refused } from '../../support/app/config-failures.ts'

refused('files and places', [
  // Files
  {
    what: 'JSON with a syntax error',
    files: { 'busbar.config.json': '{\n  "workers": 2,\n  "gateway": }\n}' },
    code: 'CONFIG_UNREADABLE',
    says: ['<root>/busbar.config.json', 'line 3, column 14', '  "gateway": }\n'],
  },
  {
    what: 'incomplete JSON',
    files: { 'busbar.config.json': '{ "workers": 2' },
    code: 'CONFIG_UNREADABLE',
    says: ['line 1, column 15'],
  },
  {
    what: 'JSON with a comment',
    files: { 'busbar.config.json': '{\n  // two\n  "workers": 2\n}' },
    code: 'CONFIG_UNREADABLE',
    says: ['line 2, column 3', 'JSON has no comments'],
  },
  {
    what: 'JSON with a name that JavaScript keeps for itself',
    files: { 'busbar.config.json': '{ "services": { "__proto__": "./a", "a": "./a" } }', 'a/index.js': '' },
    code: 'CONFIG_UNREADABLE',
    says: ['<root>/busbar.config.json', 'services.__proto__ is a name that JavaScript keeps for itself'],
  },
  {
    what: 'TypeScript with a syntax error',
    files: { 'busbar.config.ts': 'export default {\n  workers: ,\n}' },
    code: 'CONFIG_UNREADABLE',
    says: ['<root>/busbar.config.ts:2', 'workers: ,'],
  },
  {
    what: 'TypeScript that cannot be stripped',
    files: { 'busbar.config.ts': 'enum A { b }\nexport default A' },
    code: 'CONFIG_UNREADABLE',
    says: ['<root>/busbar.config.ts:1', 'avoid enums'],
  },
  {
    what: 'TypeScript that imports a type as a value',
    files: {
      'busbar.config.ts': 'import { A } from "./a.ts"\nexport default {} as A',
      'a.ts': 'export type A = object',
    },
    code: 'CONFIG_UNREADABLE',
    says: ['<root>/busbar.config.ts:1', "named 'A'", 'import type { A }'],
  },
  {
    what: 'JavaScript with a syntax error',
    files: { 'busbar.config.mjs': 'export default {\n  workers @ 2,\n}' },
    code: 'CONFIG_UNREADABLE',
    says: ['<root>/busbar.config.mjs:2', 'workers @ 2'],
  },
  {
    what: 'a config that throws',
    files: { 'busbar.config.mjs': 'function go() {\n  throw new Error("no luck")\n}\nexport default go()' },
    code: 'CONFIG_UNREADABLE',
    says: ['no luck', 'busbar.config.mjs:2:9', 'busbar.config.mjs:4'],
  },
  {
    what: 'a config function that throws',
    files: { 'busbar.config.mjs': 'export default async () => {\n  throw new Error("no luck")\n}' },
    code: 'CONFIG_UNREADABLE',
    says: ['no luck', 'busbar.config.mjs:2:9'],
  },
  {
    what: 'a config that throws a value other than an Error',
    files: { 'busbar.config.mjs': 'throw "no luck"' },
    code: 'CONFIG_UNREADABLE',
    says: ['no luck, which is not an Error'],
  },
  {
    what: 'a config that imports a missing module',
    files: { 'busbar.config.mjs': 'import "./nothing.js"' },
    code: 'CONFIG_UNREADABLE',
    says: ['nothing.js'],
  },
  {
    what: 'a config without the package busbar',
    files: { 'busbar.config.mjs': 'import { defineApp } from "busbar"\nexport default defineApp({})' },
    code: 'CONFIG_UNREADABLE',
    says: ['npm install busbar'],
  },
  {
    what: 'a config that exports nothing',
    files: { 'busbar.config.mjs': 'export const app = {}' },
    code: 'CONFIG_INVALID',
    says: ['exports no config', 'export default'],
  },
  {
    what: 'a config function that returns nothing',
    files: { 'busbar.config.mjs': 'export default () => {}' },
    code: 'CONFIG_INVALID',
    says: ['the config is missing'],
  },
  {
    what: 'two configs',
    config: app,
    files: { 'busbar.config.mjs': 'export default {}' },
    code: 'CONFIG_INVALID',
    says: ['busbar.config.mjs and busbar.config.json'],
  },

  // Places
  {
    what: 'a folder that does not exist',
    files: { 'web/index.js': program },
    place: 'wbe',
    code: 'CONFIG_NOT_FOUND',
    says: ['<root>/wbe does not exist', '<root>/web?'],
  },
  {
    what: 'an empty folder',
    files: { 'x/readme.md': '' },
    place: 'x',
    code: 'CONFIG_NOT_FOUND',
    says: ['<root>/x has no busbar.config.*', 'no package.json'],
  },
  {
    what: 'a folder with services and no config',
    files: { 'x/services/a/index.js': program },
    place: 'x',
    code: 'CONFIG_NOT_FOUND',
    says: ['services/', '{ "defaults": { "run": "shared" } }'],
  },
  {
    what: 'a config with another name',
    files: { 'x/busbar.config.yaml': '' },
    place: 'x',
    code: 'CONFIG_NOT_FOUND',
    says: ['busbar.config.yaml is ignored'],
  },
  {
    what: 'a file that only looks like a config',
    files: { 'x/app.yaml': '' },
    place: 'x/app.yaml',
    code: 'CONFIG_NOT_FOUND',
    says: ['<root>/x/app.yaml is neither a config nor a program', 'not .yaml', 'other.json'],
  },
  {
    what: 'the package.json of an app',
    files: { 'x/package.json': {} },
    place: 'x/package.json',
    code: 'CONFIG_NOT_FOUND',
    says: ['package.json does not configure services', 'the folder of an app'],
  },
  {
    what: 'JSON that is not a config',
    files: { 'x/data.json': { rows: [] }, 'x/services/a/index.js': program },
    place: 'x/data.json',
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['rows is not a key'],
  },
  {
    what: 'a package without a program',
    files: { 'x/package.json': {} },
    place: 'x',
    code: 'SERVICE_ENTRY_NOT_FOUND',
    says: ["service 'x'", 'scripts.start (not set)', 'main (not set)'],
  },
])
