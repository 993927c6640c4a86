import { type Broken, defaults, gateway, refused, web } from '../../support/app/config-failures.ts'

refused('the gateway', [
  {
    what: 'an unknown entrance',
    config: gateway({ entrance: 'rust' }),
    code: 'CONFIG_INVALID',
    says: ['gateway.entrance is "rust"', '"native"'],
  },
  {
    what: 'the native entrance, and workers that accept by themselves',
    config: { ...gateway({ entrance: 'native' }), accept: 'reusePort' },
    code: 'CONFIG_INVALID',
    says: ["accept is 'reusePort'", "gateway.entrance is 'native'", 'Leave accept out'],
  },
  {
    what: 'a spare of an entry that gets requests from the native entrance',
    config: {
      services: { web: { path: './web', run: 'thread', spare: true }, stock: './stock' },
      gateway: { entry: 'web', entrance: 'native' },
    },
    code: 'CONFIG_INVALID',
    says: ['services.web.spare: ', "write entrance: 'portable'"],
  },
  {
    what: 'an entry that is not a service',
    config: gateway({ entry: 'wed' }),
    code: 'ROUTE_UNKNOWN_SERVICE',
    says: ['gateway.entry', '"wed"', 'nearest is web'],
  },
  {
    what: 'a route to an unknown service',
    config: gateway({ routes: { '/shop': 'stokc' } }),
    code: 'ROUTE_UNKNOWN_SERVICE',
    says: ['gateway.routes["/shop"]', 'nearest is stock'],
  },
  {
    what: 'a route to a path',
    config: gateway({ routes: { '/shop': './web/shop' } }),
    code: 'ROUTE_UNKNOWN_SERVICE',
    says: ['"./web/shop"', 'The services are web, stock'],
  },
  {
    what: 'the same route twice',
    config: gateway({ routes: { '/shop': 'web', '/shop/': 'stock' } }),
    code: 'CONFIG_INVALID',
    says: ['"/shop/" matches the same requests as "/shop"'],
  },
  {
    what: 'the same host twice',
    config: gateway({ routes: { 'A.example': 'web', 'a.example/': 'stock' } }),
    code: 'CONFIG_INVALID',
    says: ['"a.example/" matches the same requests as "A.example"'],
  },
  {
    what: 'a catch-all route and an entry',
    config: gateway({ entry: 'web', routes: { '/': 'stock' } }),
    code: 'CONFIG_INVALID',
    says: ['"/" matches the same requests as gateway.entry'],
  },
  ...[
    ['', 'it is empty'],
    ['/shop/*', 'leave out the *'],
    ['*.example', 'wildcards are not supported'],
    ['a.example:80/x', 'no port'],
    ['http://a.example', 'no scheme'],
    ['/a?b', 'without ? and #'],
    ['/a b', 'no spaces'],
    ['/a//b', 'empty or a dot segment'],
    ['/a/../b', 'empty or a dot segment'],
    ['-a-', 'is not a host'],
  ].map(([route, why]): Broken => ({
    what: `the route ${JSON.stringify(route)}`,
    config: gateway({ routes: { [route!]: 'web' } }),
    code: 'CONFIG_INVALID',
    says: [JSON.stringify(route), why!],
  })),
  {
    what: 'two equal ports',
    config: { gateway: { port: 4000 }, ...web({ expose: 4000 }) },
    code: 'PORT_DUPLICATE',
    says: ['port 4000', 'gateway.port', 'services.web.expose'],
  },
  {
    what: 'a port on all hosts and on one',
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
    what: 'a port that an override makes equal',
    config: web({ expose: 4000 }),
    overrides: { port: 4000 },
    code: 'PORT_DUPLICATE',
    says: ['port 4000'],
  },
])
