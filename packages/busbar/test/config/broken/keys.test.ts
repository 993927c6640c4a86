import { app, gateway, refused, web } from '../../support/broken.ts'

refused('keys', [
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
])
