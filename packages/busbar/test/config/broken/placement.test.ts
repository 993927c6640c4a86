import { type Broken, app, defaults, program, refused, web } from '../../support/app/config-failures.ts'

refused('placement', [
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
    says: ['services.web.nodeOptions', 'needs a shell', 'Write a list'],
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
  ...Object.entries({
    entry: 'index.js',
    args: ['x'],
    expose: 1,
    memory: 1,
    nodeOptions: '--x',
    group: 'a',
    spare: true,
  }).map(([key, value]): Broken => ({
    what: `${key} of a command`,
    config: { services: { pages: { command: 'next start', [key]: value }, web: './web' } },
    code: 'CONFIG_INVALID',
    says: [`services.pages.${key}: a command cannot have it`],
  })),
  {
    what: 'one port for several instances of a command',
    config: { services: { pages: { command: 'next start', port: 8080, instances: 2 } } },
    code: 'CONFIG_INVALID',
    says: ['services.pages.port: ', 'PORT'],
  },
  ...['next start && echo', 'next start -H $HOST', ' '].map((command): Broken => ({
    what: `a command that needs a shell: ${command}`,
    config: { services: { pages: { command } } },
    code: 'CONFIG_INVALID',
    says: ['services.pages.command', 'needs a shell', "sh -c 'exec …'"],
  })),
  {
    what: 'args of a typed service',
    config: { services: { pages: { path: './pages', args: ['x'] } } },
    files: { 'pages/contract.ts': '', 'pages/index.ts': '' },
    code: 'CONFIG_INVALID',
    says: ['services.pages.args: a typed service has no arguments'],
  },
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
    says: ["service 'web'", 'npx busbar start'],
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

  {
    what: 'a range of workers that is empty',
    config: { ...app, workers: { min: 3, max: 2 } },
    code: 'CONFIG_INVALID',
    says: ['workers.min (3)', 'workers.max (2)'],
  },
])
