import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BusbarError, type ErrorCode } from '../../src/contract/errors.ts'
import { loadApp, type LoadOptions } from '../../src/config/load.ts'
import { type Files, TestFolder } from '../support/folder.ts'

const program = ''

interface Broken extends LoadOptions {
  /** What is wrong. */
  readonly what: string
  readonly code: ErrorCode
  /** What the message, or the hint behind it, must say. `<root>` stands for the app's folder. */
  readonly says: readonly string[]
  /** The config of an app that has programs in `web` and `stock`. */
  readonly config?: object
  /** Instead, or as well, these files. */
  readonly files?: Files
  /** Within the app's folder. */
  readonly place?: string
}

/** Two services that are in order. */
const two = { web: './web', stock: './stock' }
const defaults = { run: 'shared' }
const app = { defaults, services: two }
const web = (config: object): object => ({ services: { web: { path: './web', ...config } } })
const gateway = (config: object): object => ({ ...app, gateway: config })

const configs: readonly Broken[] = [
  // Keys
  {
    what: 'a wrong key at the top',
    config: { ...app, worker: 1 },
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['worker is no key', 'nearest is workers'],
  },
  {
    what: 'a wrong key of the gateway',
    config: gateway({ prot: 1 }),
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['gateway.prot', 'nearest is gateway.port'],
  },
  {
    what: 'a wrong key of a service',
    config: web({ startTimout: 1 }),
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['services.web.startTimout', 'nearest is services.web.startTimeout'],
  },
  {
    what: 'a wrong key of expose',
    config: web({ expose: { prt: 1, port: 1 } }),
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['services.web.expose.prt', 'services.web.expose.port'],
  },
  {
    what: 'a port for metrics without a token',
    config: { ...app, admin: { port: 9464 } },
    code: 'CONFIG_INVALID',
    says: ['admin.token', 'at least 16 characters'],
  },
  {
    what: 'a token that is soon guessed',
    config: { ...app, admin: { port: 9464, token: 'secret' } },
    code: 'CONFIG_INVALID',
    says: ['admin.token'],
  },
  {
    what: 'a port for metrics that is the gateway’s',
    config: { ...app, gateway: { port: 3000 }, admin: { port: 3000, token: '0123456789abcdef' } },
    code: 'PORT_DUPLICATE',
    says: ['gateway.port', 'admin.port'],
  },
  {
    what: 'a key in the wrong place',
    config: { ...app, port: 1 },
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['port is no key', 'gateway.port'],
  },
  {
    what: 'a key that is like no other',
    config: { ...app, xylophone: 1 },
    code: 'CONFIG_KEY_UNKNOWN',
    says: ['xylophone', 'workers, accept'],
  },
  { what: 'a key that needs quotes', config: { ...app, 'a b': 1 }, code: 'CONFIG_KEY_UNKNOWN', says: ['["a b"]'] },

  // Values
  {
    what: 'a config that is a list',
    files: { 'busbar.config.json': '[]' },
    code: 'CONFIG_INVALID',
    says: ['the config is an empty list', 'an object'],
  },
  {
    what: 'text for a number',
    config: { ...app, workers: 'many' },
    code: 'CONFIG_INVALID',
    says: ['workers is "many"', 'an integer from 1 to 1024, or "auto"'],
  },
  { what: 'no workers', config: { ...app, workers: 0 }, code: 'CONFIG_INVALID', says: ['workers is 0'] },
  { what: 'half a worker', config: { ...app, workers: 1.5 }, code: 'CONFIG_INVALID', says: ['workers is 1.5'] },
  {
    what: 'a port beyond the last',
    config: gateway({ port: 65_536 }),
    code: 'CONFIG_INVALID',
    says: ['gateway.port is 65536', 'from 0 to 65535'],
  },
  {
    what: 'a port that is null',
    config: gateway({ port: null }),
    code: 'CONFIG_INVALID',
    says: ['gateway.port is null'],
  },
  {
    what: 'a duration without a known unit',
    config: { ...app, stopTimeout: '5 parsecs' },
    code: 'CONFIG_INVALID',
    says: ['stopTimeout is "5 parsecs"', '"10s"'],
  },
  {
    what: 'a negative duration',
    config: { ...app, limits: { headerTimeout: '-5s' } },
    code: 'CONFIG_INVALID',
    says: ['limits.headerTimeout is "-5s"'],
  },
  {
    what: 'a duration longer than a timer',
    config: { ...app, limits: { requestTimeout: '1000h' } },
    code: 'CONFIG_INVALID',
    says: ['limits.requestTimeout is "1000h"'],
  },
  {
    what: 'a size without a known unit',
    config: { ...app, limits: { maxBodySize: '10 megs' } },
    code: 'CONFIG_INVALID',
    says: ['limits.maxBodySize', '"10mb"'],
  },
  {
    what: 'a word for accept',
    config: { ...app, accept: 'fair' },
    code: 'CONFIG_INVALID',
    says: ['accept is "fair"', '"balanced" or "reusePort"'],
  },
  { what: 'services as a list', config: { services: ['./web'] }, code: 'CONFIG_INVALID', says: ['services is a list'] },
  {
    what: 'a service that is a number',
    config: { services: { web: 1 } },
    code: 'CONFIG_INVALID',
    says: ['services.web is 1', 'a folder or file, or an object'],
  },
  {
    what: 'a need that is a number',
    config: web({ needs: [1] }),
    code: 'CONFIG_INVALID',
    says: ['services.web.needs[0] is 1'],
  },
  {
    what: 'a variable that is an object',
    config: web({ env: { A: {} } }),
    code: 'CONFIG_INVALID',
    says: ['services.web.env.A is an object'],
  },
  {
    what: 'a variable without a name',
    config: web({ env: { 'A=B': 1 } }),
    code: 'CONFIG_INVALID',
    says: ['services.web.env["A=B"]', "variable's name"],
  },
  {
    what: 'an expose that is true',
    config: web({ expose: true }),
    code: 'CONFIG_INVALID',
    says: ['services.web.expose is true', 'a port, or an object'],
  },
  {
    what: 'an expose without a port',
    config: web({ expose: { host: '::1' } }),
    code: 'CONFIG_INVALID',
    says: ['services.web.expose.port is nothing'],
  },
  {
    what: 'a key file without a certificate',
    config: gateway({ tls: { key: 'a' } }),
    code: 'CONFIG_INVALID',
    says: ['gateway.tls.cert is nothing'],
  },
  {
    what: 'an override out of range',
    config: app,
    overrides: { workers: 99_999 },
    code: 'CONFIG_INVALID',
    says: ['workers is 99999'],
  },
  {
    what: 'a variable PORT that is none',
    config: app,
    env: { PORT: 'tcp://10.0.0.1:80' },
    code: 'CONFIG_INVALID',
    says: ['PORT', 'tcp://10.0.0.1:80'],
  },
  {
    what: 'headers that may take longer than the request',
    config: { ...app, limits: { headerTimeout: '20s', requestTimeout: '10s' } },
    code: 'CONFIG_INVALID',
    says: ['limits.headerTimeout (20000 ms)', 'limits.requestTimeout'],
  },
  {
    what: 'a service that may stop longer than the app',
    config: web({ stopTimeout: '9s' }),
    code: 'CONFIG_INVALID',
    says: ['services.web.stopTimeout (9000 ms)', "the app's stopTimeout (8000 ms)"],
  },
  {
    what: 'defaults that may stop longer than the app',
    config: { ...app, defaults: { run: 'shared', stopTimeout: 9000 } },
    code: 'CONFIG_INVALID',
    says: ['defaults.stopTimeout'],
  },
  { what: 'no service', config: { services: {} }, code: 'CONFIG_INVALID', says: ['services is empty'] },
  { what: 'no service to be found', config: {}, code: 'CONFIG_INVALID', says: ['<root>/services has no folder'] },
  {
    what: 'a file with an entry',
    config: { services: { web: { path: './web/index.js', entry: 'x.js' } } },
    code: 'CONFIG_INVALID',
    says: ['services.web', 'is a file already'],
  },

  // Placeholders
  {
    what: 'a variable that is missing',
    config: gateway({ port: '${WEB_PORT}' }),
    code: 'CONFIG_VARIABLE_MISSING',
    says: ['gateway.port', 'WEB_PORT', '${WEB_PORT:-value}'],
  },
  {
    what: 'a variable that is missing deep inside',
    config: web({ needs: ['a${NEED}'] }),
    code: 'CONFIG_VARIABLE_MISSING',
    says: ['services.web.needs[0]', 'NEED'],
  },
  {
    what: 'a variable that is missing where a path is needed',
    config: { services: { web: '${DIR}' } },
    code: 'CONFIG_VARIABLE_MISSING',
    says: ['services.web', 'DIR'],
  },
  {
    what: 'a variable that is no number',
    config: gateway({ port: '${P}' }),
    env: { P: 'http' },
    code: 'CONFIG_INVALID',
    says: ['gateway.port is "http"'],
  },
  {
    what: 'a placeholder that is none',
    config: web({ env: { A: '${a-b}' } }),
    code: 'CONFIG_INVALID',
    says: ['services.web.env.A', '${a-b}', '$${'],
  },
  {
    what: 'a placeholder that does not end',
    config: web({ env: { A: '${A' } }),
    code: 'CONFIG_INVALID',
    says: ['services.web.env.A'],
  },

  // Names
  {
    what: 'a name in capitals',
    config: { services: { WebShop: './web' } },
    code: 'SERVICE_NAME_INVALID',
    says: ['"WebShop"', 'Call it web-shop'],
  },
  {
    what: 'a name with an underscore',
    config: { services: { my_shop: './web' } },
    code: 'SERVICE_NAME_INVALID',
    says: ['Call it my-shop'],
  },
  {
    what: 'a name with accents',
    config: { services: { 'Café!': './web' } },
    code: 'SERVICE_NAME_INVALID',
    says: ['Call it cafe.'],
  },
  {
    what: 'a name that is too long',
    config: { services: { ['a'.repeat(64)]: './web' } },
    code: 'SERVICE_NAME_INVALID',
    says: [`Call it ${'a'.repeat(63)}.`],
  },
  {
    what: 'a name that is empty',
    config: { services: { '': './web' } },
    code: 'SERVICE_NAME_INVALID',
    says: ['Call it app'],
  },
  {
    what: 'a folder in services/ whose name is none',
    files: { 'busbar.config.json': {}, 'services/My_Shop/index.js': program },
    code: 'SERVICE_NAME_INVALID',
    says: ['"My_Shop"', "{ 'my-shop': './services/My_Shop' }"],
  },

  // Folders and entries
  {
    what: 'a folder that is missing',
    config: { services: { web: './wbe' } },
    code: 'SERVICE_NOT_FOUND',
    says: ['service web', '<root>/wbe does not exist', '<root>/web?'],
  },
  {
    what: 'a folder whose parent is missing',
    config: { services: { web: './a/b/c' } },
    code: 'SERVICE_NOT_FOUND',
    says: ['<root>/a/b/c does not exist'],
  },
  {
    what: 'a folder under a parent that is misspelt',
    config: { services: { web: './serivces/web' } },
    files: { 'services/web/index.js': program },
    code: 'SERVICE_NOT_FOUND',
    says: ['<root>/services/web?'],
  },
  {
    what: 'an entry that is missing',
    config: web({ entry: 'indx.js' }),
    code: 'SERVICE_ENTRY_NOT_FOUND',
    says: ['services.web.entry is indx.js', 'Did you mean index.js?'],
  },
  {
    what: 'an entry that is a folder',
    config: { services: { web: { path: '.', entry: 'web' } } },
    code: 'SERVICE_ENTRY_NOT_FOUND',
    says: ['<root>/web is a folder'],
  },
  {
    what: 'a folder with nothing to start',
    config: { services: { web: './empty' } },
    files: { 'empty/readme.md': '' },
    code: 'SERVICE_ENTRY_NOT_FOUND',
    says: ['<root>/empty', 'package.json (there is none)', 'index.*', 'server.*', 'app.*', 'ts, mts, js, mjs, cjs'],
  },
  {
    what: 'a package that starts otherwise',
    config: { services: { web: './empty' } },
    files: { 'empty/package.json': { main: 'lib.js', scripts: { start: 'next start' } } },
    code: 'SERVICE_ENTRY_NOT_FOUND',
    says: ['`next start` is not one call of node', 'main (lib.js does not exist)'],
  },
  {
    what: 'a start script whose file is not built',
    config: { services: { web: './empty' } },
    files: { 'empty/package.json': { scripts: { start: 'node dist/main.js' } }, 'empty/index.js': program },
    code: 'SERVICE_ENTRY_NOT_FOUND',
    says: ['dist/main.js, which does not exist', 'Build'],
  },
  {
    what: 'a package.json that is none',
    config: { services: { web: './empty' } },
    files: { 'empty/package.json': '{ "name": }' },
    code: 'CONFIG_UNREADABLE',
    says: ['<root>/empty/package.json', 'line 1, column 11'],
  },
  {
    what: 'variables in a file that is missing',
    config: web({ envFile: '.env' }),
    code: 'ENV_FILE_UNREADABLE',
    says: ['services.web.envFile', '<root>/.env'],
  },
  {
    what: 'variables in a file that is elsewhere',
    config: web({ envFile: '.env' }),
    files: { 'web/.env': '' },
    code: 'ENV_FILE_UNREADABLE',
    says: ['<root>/.env', 'there is a <root>/web/.env'],
  },
  {
    what: 'default variables in a file that is missing',
    config: { ...app, defaults: { run: 'shared', envFile: 'x.env' } },
    code: 'ENV_FILE_UNREADABLE',
    says: ['defaults.envFile', '<root>/x.env'],
  },
  {
    what: 'a start script whose variables are missing',
    config: { services: { web: './x' } },
    files: { 'x/package.json': { scripts: { start: 'node --env-file .env a.js' } }, 'x/a.js': program },
    code: 'ENV_FILE_UNREADABLE',
    says: ['service web', '<root>/x/.env'],
  },

  // Needs
  {
    what: 'a need that is no service',
    config: { defaults, services: { web: { path: 'web', needs: ['stok'] }, stock: 'stock' } },
    code: 'NEEDS_UNKNOWN_SERVICE',
    says: ['services.web.needs', '"stok"', 'Did you mean stock?'],
  },
  { what: 'a service that needs itself', config: web({ needs: ['web'] }), code: 'NEEDS_CYCLE', says: ['web → web'] },
  {
    what: 'services that need each other',
    config: {
      defaults,
      services: {
        a: { path: 'web', needs: ['b'] },
        b: { path: 'web', needs: ['c'] },
        c: { path: 'web', needs: ['a'] },
      },
    },
    code: 'NEEDS_CYCLE',
    says: ['a → b → c → a'],
  },

  // The gateway
  {
    what: 'an entry that is no service',
    config: gateway({ entry: 'wed' }),
    code: 'ROUTE_UNKNOWN_SERVICE',
    says: ['gateway.entry', '"wed"', 'nearest is web'],
  },
  {
    what: 'a route to no service',
    config: gateway({ routes: { '/shop': 'stokc' } }),
    code: 'ROUTE_UNKNOWN_SERVICE',
    says: ['gateway.routes["/shop"]', 'nearest is stock'],
  },
  {
    what: 'a route to a path',
    config: gateway({ routes: { '/shop': './web/shop' } }),
    code: 'ROUTE_UNKNOWN_SERVICE',
    says: ['"./web/shop"', 'There are web, stock'],
  },
  {
    what: 'the same route twice',
    config: gateway({ routes: { '/shop': 'web', '/shop/': 'stock' } }),
    code: 'CONFIG_INVALID',
    says: ['"/shop/" takes the same requests as "/shop"'],
  },
  {
    what: 'the same host twice',
    config: gateway({ routes: { 'A.example': 'web', 'a.example/': 'stock' } }),
    code: 'CONFIG_INVALID',
    says: ['"a.example/" takes the same requests as "A.example"'],
  },
  {
    what: 'a route for all beside an entry',
    config: gateway({ entry: 'web', routes: { '/': 'stock' } }),
    code: 'CONFIG_INVALID',
    says: ['"/" takes the same requests as gateway.entry'],
  },
  ...[
    ['', 'it is empty'],
    ['/shop/*', 'leave out the *'],
    ['*.example', 'no wildcards'],
    ['a.example:80/x', 'no port'],
    ['http://a.example', 'no scheme'],
    ['/a?b', 'without ? and #'],
    ['/a b', 'no spaces'],
    ['/a//b', 'empty or a dot segment'],
    ['/a/../b', 'empty or a dot segment'],
    ['-a-', 'is no host'],
  ].map(([route, why]): Broken => ({
    what: `the route ${JSON.stringify(route)}`,
    config: gateway({ routes: { [route!]: 'web' } }),
    code: 'CONFIG_INVALID',
    says: [JSON.stringify(route), why!],
  })),
  {
    what: 'two ports that are the same',
    config: { gateway: { port: 4000 }, ...web({ expose: 4000 }) },
    code: 'PORT_DUPLICATE',
    says: ['port 4000', 'gateway.port', 'services.web.expose'],
  },
  {
    what: 'a port that is asked for on all hosts and on one',
    config: {
      defaults,
      services: {
        web: { path: 'web', expose: { host: '0.0.0.0', port: 81 } },
        stock: { path: 'stock', expose: { host: 'localhost', port: 81 } },
      },
    },
    code: 'PORT_DUPLICATE',
    says: ['port 81', 'services.web.expose', 'services.stock.expose'],
  },
  {
    what: 'a port that an override makes the same',
    config: web({ expose: 4000 }),
    overrides: { port: 4000 },
    code: 'PORT_DUPLICATE',
    says: ['port 4000'],
  },

  // Loops
  {
    what: 'a remote that is the gateway',
    config: { gateway: { port: 3043 }, services: { web: './web', self: { remote: 'http://localhost:3043' } } },
    code: 'ROUTE_LOOP',
    says: ['services.self.remote', 'http://localhost:3043'],
  },
  {
    what: 'a remote that is an exposed port',
    config: { services: { web: { path: './web', expose: 81 }, self: { remote: '127.0.0.1:81' } } },
    code: 'ROUTE_LOOP',
    says: ['services.self.remote'],
  },
  {
    what: 'a route to the gateway',
    config: { ...app, gateway: { host: '0.0.0.0', port: 3043, routes: { '/a': 'http://10.0.0.1:3043/b' } } },
    code: 'ROUTE_LOOP',
    says: ['gateway.routes["/a"]', 'http://10.0.0.1:3043/b'],
  },
  {
    what: 'a route for the inner name of a service',
    config: gateway({ routes: { 'stock.internal': 'web' } }),
    code: 'ROUTE_LOOP',
    says: ['"stock.internal"', 'service stock'],
  },
  {
    what: "a service whose folder is the app's and starts it",
    config: { services: { self: '.' } },
    files: { 'package.json': { scripts: { start: 'busbar start' } } },
    code: 'ROUTE_LOOP',
    says: ['service self', '`busbar start`'],
  },
  {
    what: "a service whose folder is the app's and has no program",
    config: { services: { self: '.' } },
    code: 'ROUTE_LOOP',
    says: ['service self', 'busbar.config.json'],
  },
  {
    what: 'a service whose entry is the config',
    config: { services: { self: './busbar.config.json' } },
    code: 'ROUTE_LOOP',
    says: ['service self', '<root>/busbar.config.json'],
  },
  {
    what: 'a service that is the command',
    config: { services: { self: './x' } },
    files: {
      'x/package.json': { scripts: { start: 'node bb/bin/busbar.js start ..' } },
      'x/bb/package.json': { name: 'busbar' },
      'x/bb/bin/busbar.js': program,
    },
    code: 'ROUTE_LOOP',
    says: ['service self', 'busbar.js'],
  },

  // Placement
  {
    what: 'a place that there is not',
    config: web({ run: 'cluster' }),
    code: 'CONFIG_INVALID',
    says: ['services.web.run is "cluster"', '"shared", "thread" or "process"'],
  },
  ...Object.entries({ group: 'a', instances: 2, concurrency: 1, memory: '64mb' }).map(([key, value]): Broken => ({
    what: `${key} of a shared service`,
    config: { services: { web: { path: './web', run: 'shared', [key]: value }, stock: './stock' } },
    code: 'CONFIG_INVALID',
    says: [`services.web.${key}: `, "run is 'shared'", "run: 'thread'"],
  })),
  {
    what: 'instances where all services are shared',
    config: { defaults, services: { web: { path: './web', instances: 'auto' } } },
    code: 'CONFIG_INVALID',
    says: ['services.web.instances: ', '`workers`'],
  },
  {
    what: 'a group of processes',
    config: web({ run: 'process', group: 'a' }),
    code: 'CONFIG_INVALID',
    says: ['services.web.group: ', "run is 'process'"],
  },
  {
    what: 'a service in two groups',
    config: web({ run: 'thread', group: ['a', 'b'] }),
    code: 'CONFIG_INVALID',
    says: ['services.web.group is a list', 'a name'],
  },
  {
    what: 'a group of which one service has a limit of memory',
    config: {
      services: { web: { path: './web', group: 'a', memory: '64mb' }, stock: { path: './stock', group: 'a' } },
    },
    code: 'CONFIG_INVALID',
    says: ['services.stock has no memory', 'group a'],
  },
  ...Object.entries({ nodeOptions: '--expose-gc', permissions: {} }).map(([key, value]): Broken => ({
    what: `${key} of a thread`,
    config: web({ run: 'thread', [key]: value }),
    code: 'CONFIG_INVALID',
    says: [`services.web.${key}: `, "Write run: 'process'"],
  })),
  {
    what: 'flags of Node that take a shell',
    config: web({ run: 'process', nodeOptions: '--title $NAME' }),
    code: 'CONFIG_INVALID',
    says: ['services.web.nodeOptions', 'takes a shell', 'Write a list'],
  },
  {
    what: 'a permission that there is not',
    config: web({ run: 'process', permissions: { allow: ['network'] } }),
    code: 'CONFIG_INVALID',
    says: ['services.web.permissions.allow[0] is "network"', '"child-process"'],
  },
  {
    what: 'less memory than a process takes',
    config: web({ run: 'process', memory: '10mb' }),
    code: 'CONFIG_INVALID',
    says: ['services.web.memory: ', '96mb or more'],
  },
  {
    what: 'a queue without a concurrency',
    config: web({ run: 'thread', queue: 1 }),
    code: 'CONFIG_INVALID',
    says: ['services.web.queue: ', 'concurrency'],
  },
  {
    what: 'a grace without a concurrency',
    config: web({ run: 'thread', grace: 100 }),
    code: 'CONFIG_INVALID',
    says: ['services.web.grace: ', 'concurrency'],
  },
  ...['shared', 'process'].map((run): Broken => ({
    what: `a spare of a service whose run is ${run}`,
    config: web({ run, spare: true }),
    code: 'CONFIG_INVALID',
    says: ['services.web.spare: ', `run is '${run}'`, "write run: 'thread'"],
  })),
  {
    what: 'a spare for some services of a group',
    config: {
      services: { web: { path: './web', group: 'a', spare: true }, stock: { path: './stock', group: 'a' } },
    },
    code: 'CONFIG_INVALID',
    says: ['services.stock has no spare', 'its group a'],
  },
  {
    what: 'a spare that would take connections before its time',
    config: {
      accept: 'reusePort',
      gateway: { entry: 'stock' },
      services: { web: { path: './web', run: 'thread', expose: 3101, spare: true }, stock: './stock' },
    },
    code: 'CONFIG_INVALID',
    says: ['services.web.spare: ', "accept: 'balanced'"],
  },
  {
    what: 'more threads than there may be, spares among them',
    config: {
      services: { web: { path: './web', run: 'thread', instances: 512, spare: true }, stock: './stock' },
    },
    code: 'CONFIG_INVALID',
    says: ['threads and processes', '1024'],
  },
  {
    what: 'more threads than there may be',
    config: {
      services: { web: { path: './web', instances: 1024 }, stock: { path: './stock', run: 'process', instances: 2 } },
    },
    code: 'CONFIG_INVALID',
    says: ['1027 threads and processes', '1024'],
  },
  ...['./stock', undefined].map((path): Broken => ({
    what: `a command that is a thread${path === undefined ? '' : ', in a folder of its own'}`,
    config: { services: { pages: { command: 'next start', path, run: 'thread' }, web: './web' } },
    code: 'CONFIG_INVALID',
    says: ['services.pages.run: ', "'thread'"],
  })),
  ...Object.entries({ entry: 'index.js', expose: 1, memory: 1, nodeOptions: '--x', group: 'a', spare: true }).map(
    ([key, value]): Broken => ({
      what: `${key} of a command`,
      config: { services: { pages: { command: 'next start', [key]: value }, web: './web' } },
      code: 'CONFIG_INVALID',
      says: [`services.pages.${key}: a command cannot have it`],
    }),
  ),
  {
    what: 'one port for several instances of a command',
    config: { services: { pages: { command: 'next start', port: 8080, instances: 2 } } },
    code: 'CONFIG_INVALID',
    says: ['services.pages.port: ', 'PORT'],
  },
  ...['next start && echo', 'next start -H $HOST', ' '].map((command): Broken => ({
    what: `a command that takes a shell: ${command}`,
    config: { services: { pages: { command } } },
    code: 'CONFIG_INVALID',
    says: ['services.pages.command', 'takes a shell', "sh -c 'exec …'"],
  })),
  {
    what: 'a command in the folder of a typed service',
    config: { services: { web: { path: './web', command: 'next start' } } },
    files: { 'web/contract.js': program },
    code: 'CONFIG_INVALID',
    says: ['services.web has a command (next start)', 'contract.js'],
  },
  {
    what: 'a command whose path is a file',
    config: { services: { web: { path: './web/index.js', command: 'next start' } } },
    code: 'CONFIG_INVALID',
    says: ['services.web has a command', 'web/index.js is a file'],
  },
  {
    what: 'a command that starts the app itself',
    config: { services: { web: { command: 'npx busbar start' } } },
    code: 'ROUTE_LOOP',
    says: ['service web', 'npx busbar start'],
  },
  {
    what: 'an address as the path of a document',
    config: web({ openapi: 'http://127.0.0.1/openapi.json' }),
    code: 'CONFIG_INVALID',
    says: ['services.web.openapi', 'a path, or false'],
  },
  {
    what: 'a document where a route leads elsewhere',
    config: { ...app, gateway: { routes: { '/docs': 'web' }, openapi: { page: '/docs/api' } } },
    code: 'CONFIG_INVALID',
    says: ['gateway.openapi.page', 'the route "/docs"'],
  },
  {
    what: 'a service that is nothing',
    config: { services: { web: { run: 'thread' } } },
    code: 'CONFIG_INVALID',
    says: ['services.web has neither a path nor a command'],
  },

  // What comes later
  {
    what: 'a remote',
    config: { services: { stock: { remote: 'tls://10.0.0.7:7001' } } },
    code: 'PLACEMENT_UNSUPPORTED',
    says: ['services.stock.remote', 'by its own address'],
  },
  {
    what: 'workers that scale',
    config: { ...app, workers: { min: 1, max: 2 } },
    code: 'PLACEMENT_UNSUPPORTED',
    says: ['workers', "'auto'"],
  },

  // Files
  {
    what: 'JSON with a syntax error',
    files: { 'busbar.config.json': '{\n  "workers": 2,\n  "gateway": }\n}' },
    code: 'CONFIG_UNREADABLE',
    says: ['<root>/busbar.config.json', 'line 3, column 14', '  "gateway": }\n'],
  },
  {
    what: 'JSON that ends too soon',
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
    what: 'TypeScript with a syntax error',
    files: { 'busbar.config.ts': 'export default {\n  workers: ,\n}' },
    code: 'CONFIG_UNREADABLE',
    says: ['<root>/busbar.config.ts:2', 'workers: ,'],
  },
  {
    what: 'TypeScript that cannot be stripped',
    files: { 'busbar.config.ts': 'enum A { b }\nexport default A' },
    code: 'CONFIG_UNREADABLE',
    says: ['<root>/busbar.config.ts:1', 'without enums'],
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
    what: 'a config that throws no error',
    files: { 'busbar.config.mjs': 'throw "no luck"' },
    code: 'CONFIG_UNREADABLE',
    says: ['no luck, which is no error'],
  },
  {
    what: 'a config that imports what is not there',
    files: { 'busbar.config.mjs': 'import "./nothing.js"' },
    code: 'CONFIG_UNREADABLE',
    says: ['nothing.js'],
  },
  {
    what: 'a config without busbar beside it',
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
    says: ['the config is nothing'],
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
    what: 'a folder with nothing in it',
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
    what: 'a config by another name',
    files: { 'x/busbar.config.yaml': '' },
    place: 'x',
    code: 'CONFIG_NOT_FOUND',
    says: ['busbar.config.yaml is not read'],
  },
  {
    what: 'a package without a program',
    files: { 'x/package.json': {} },
    place: 'x',
    code: 'SERVICE_ENTRY_NOT_FOUND',
    says: ['service x', 'scripts.start (not given)', 'main (not given)'],
  },
]

describe('a config with a fault', () => {
  for (const { what, code, says, config, files, place = '.', env = {}, overrides = {} } of configs)
    it(`is refused with ${code}: ${what}`, async () => {
      using folder = new TestFolder({
        'web/index.js': program,
        'stock/index.js': program,
        ...files,
        ...(config !== undefined && { 'busbar.config.json': config }),
      })
      const error = await failure(folder.at(place), { env, overrides })
      const told = `${error.message}\n${error.hint ?? ''}`
      assert.equal(error.code, code, told)
      assert.ok(!/^\d+ problems/.test(error.message), told)
      for (const part of says)
        assert.ok(told.includes(part.replaceAll('<root>', folder.path)), `${part}\nis not in\n${told}`)
      assert.ok(!told.includes('undefined') && !told.includes('[object'), told)
      assert.equal(error.exitCode, 3)
    })

  it('shows only frames of the user in a stack', async () => {
    using folder = new TestFolder({
      'busbar.config.mjs': 'import { go } from "./go.mjs"\nexport default go',
      'go.mjs': 'export const go = () => JSON.parse("{")',
    })
    const { message } = await failure(folder.path, {})
    const frames = message.split('\n').filter((line) => /^\s+at /.test(line))
    assert.equal(frames.length, 1, message)
    assert.match(frames[0]!, /go\.mjs:1/)
  })
})

describe('a config with several faults', () => {
  it('tells each of them at once, each once', async () => {
    using folder = new TestFolder({
      'web/index.js': program,
      'busbar.config.json': {
        workerz: 2,
        gateway: {
          prot: 1,
          port: '${NOPE}',
          routes: { '/a': 'wbe', '/b*': 'web' },
          tls: { cert: 'c.pem', key: 'k.pem' },
        },
        services: {
          web: { path: './wed', run: 'thread', needs: ['stock', 1, 2], expose: { port: 'x' } },
          stock: { path: './web', needs: ['web'], memory: '1', startTimeout: 'x' },
          far: { remote: 'tls://10.0.0.7:1', needs: ['stock'] },
          Bad: './web',
        },
      },
    })
    const error = await failure(folder.path, {})
    const found = (error.cause as AggregateError).errors as BusbarError[]
    assert.deepEqual(found.map(({ code }) => code).toSorted(), [
      'CONFIG_INVALID',
      'CONFIG_INVALID',
      'CONFIG_INVALID',
      'CONFIG_INVALID',
      'CONFIG_INVALID',
      'CONFIG_INVALID',
      'CONFIG_KEY_UNKNOWN',
      'CONFIG_KEY_UNKNOWN',
      'CONFIG_VARIABLE_MISSING',
      'NEEDS_CYCLE',
      'PLACEMENT_UNSUPPORTED',
      'ROUTE_UNKNOWN_SERVICE',
      'SERVICE_NAME_INVALID',
      'SERVICE_NOT_FOUND',
      'TLS_FILE_UNREADABLE',
    ])
    assert.equal(error.code, found[0]?.code)
    for (const { code, message } of found) assert.ok(error.message.includes(`${code}: ${message}`))
    assert.match(error.message, /^15 problems in .*busbar\.config\.json:\n/)
  })

  it('tells of a service that is named elsewhere although it is broken itself', async () => {
    using folder = new TestFolder({
      'web/index.js': program,
      'busbar.config.json': {
        services: { web: { path: './web', needs: ['stock'] }, stock: 1 },
        gateway: { entry: 'stock' },
      },
    })
    const error = await failure(folder.path, {})
    assert.equal(error.code, 'CONFIG_INVALID')
    assert.match(error.message, /^services\.stock is 1/)
  })
})

async function failure(place: string, options: LoadOptions): Promise<BusbarError> {
  try {
    await loadApp(place, { env: {}, ...options })
  } catch (error) {
    assert.ok(BusbarError.is(error), String((error as Error).stack))
    return error
  }
  return assert.fail('it was accepted')
}
