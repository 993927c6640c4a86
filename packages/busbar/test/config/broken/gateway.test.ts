import { type Broken, defaults, gateway, refused, web } from '../../support/broken.ts'

refused('the gateway', [
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
])
