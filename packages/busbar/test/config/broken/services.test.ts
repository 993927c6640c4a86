import { app, defaults, gateway, program, refused, web } from '../../support/app/config-failures.ts'

refused('services and what they need', [
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
    what: 'a folder in services/ with an invalid name',
    files: { 'busbar.config.json': {}, 'services/My_Shop/index.js': program },
    code: 'SERVICE_NAME_INVALID',
    says: ['"My_Shop"', "{ 'my-shop': './services/My_Shop' }"],
  },

  // Folders and entries
  {
    what: 'a folder that is missing',
    config: { services: { web: './wbe' } },
    code: 'SERVICE_NOT_FOUND',
    says: ["service 'web'", '<root>/wbe does not exist', '<root>/web?'],
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
    what: 'a package with another start script',
    config: { services: { web: './empty' } },
    files: { 'empty/package.json': { main: 'lib.js', scripts: { start: 'next start' } } },
    code: 'SERVICE_ENTRY_NOT_FOUND',
    says: ['`next start` is not a single call of node', 'main (lib.js does not exist)'],
  },
  {
    what: 'a start script whose file is not built',
    config: { services: { web: './empty' } },
    files: { 'empty/package.json': { scripts: { start: 'node dist/main.js' } }, 'empty/index.js': program },
    code: 'SERVICE_ENTRY_NOT_FOUND',
    says: ['dist/main.js, which does not exist', 'Build'],
  },
  {
    what: 'an invalid package.json',
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
    what: 'variables in a file with a NUL character',
    config: web({ envFile: '.env' }),
    files: { '.env': 'A=hidden\0b' },
    code: 'ENV_FILE_UNREADABLE',
    says: ['services.web.envFile', '<root>/.env', 'it has a NUL character'],
  },
  {
    what: 'variables in a file in another folder',
    config: web({ envFile: '.env' }),
    files: { 'web/.env': '' },
    code: 'ENV_FILE_UNREADABLE',
    says: ['<root>/.env', 'Did you mean <root>/web/.env?'],
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
    says: ["service 'web'", '<root>/x/.env'],
  },

  // Needs
  {
    what: 'a need that is not a service',
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

  // Loops
  {
    what: 'a remote with the address of the gateway',
    config: { gateway: { port: 3043 }, services: { web: './web', self: { remote: 'tls://localhost:3043' } } },
    code: 'ROUTE_LOOP',
    says: ['services.self.remote', 'tls://localhost:3043'],
  },
  {
    what: 'a remote with the address of an exposed port',
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
    what: 'a route for the internal name of a service',
    config: gateway({ routes: { 'stock.internal': 'web' } }),
    code: 'ROUTE_LOOP',
    says: ['"stock.internal"', "service 'stock'"],
  },
  {
    what: "a service whose folder is the app's and starts it",
    config: { services: { self: '.' } },
    files: { 'package.json': { scripts: { start: 'busbar start' } } },
    code: 'ROUTE_LOOP',
    says: ["service 'self'", '`busbar start`'],
  },
  {
    what: "a service whose folder is the app's and has no program",
    config: { services: { self: '.' } },
    code: 'ROUTE_LOOP',
    says: ["service 'self'", 'busbar.config.json'],
  },
  {
    what: 'a service whose entry is the config',
    config: { services: { self: './busbar.config.json' } },
    code: 'ROUTE_LOOP',
    says: ["service 'self'", '<root>/busbar.config.json'],
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
    says: ["service 'self'", 'busbar.js'],
  },
])
