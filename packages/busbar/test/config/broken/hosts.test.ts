import { refused } from '../../support/app/config-failures.ts'

const cluster = { nats: 'nats://127.0.0.1:4222', name: 'shop' }
const services = { web: './web', stock: './stock' }

refused('what several hosts need', [
  {
    what: 'a remote that is no address',
    config: { services: { web: './web', far: { remote: 'http://10.0.0.7:7001' } } },
    code: 'CONFIG_INVALID',
    says: ['services.far.remote', 'http://10.0.0.7:7001', 'tls://host:port'],
  },
  {
    what: 'a remote without a port',
    config: { services: { web: './web', far: { remote: ['tcp://a:1', 'tcp://10.0.0.7'] } } },
    code: 'CONFIG_INVALID',
    says: ['services.far.remote', 'tcp://10.0.0.7'],
  },
  {
    what: 'a remote with a placement',
    config: { services: { web: './web', far: { remote: 'tcp://10.0.0.7:7001', run: 'thread' } } },
    code: 'CONFIG_INVALID',
    says: ['services.far has remote and run'],
  },
  {
    what: 'a remote with the address of the export',
    config: {
      services: { ...services, far: { remote: 'tcp://localhost:7001' } },
      export: { tcp: '127.0.0.1:7001', services: ['stock'] },
    },
    code: 'ROUTE_LOOP',
    says: ['services.far.remote', 'tcp://localhost:7001'],
  },
  {
    what: 'an export without an address',
    config: { services, export: { services: ['stock'] } },
    code: 'CONFIG_INVALID',
    says: ['export has neither tls nor tcp'],
  },
  {
    what: 'an export with two addresses',
    config: { services, export: { tcp: ':1', tls: ':2', services: ['stock'] } },
    code: 'CONFIG_INVALID',
    says: ['export has both tls and tcp'],
  },
  {
    what: 'an export with an invalid address',
    config: { services, export: { tcp: '7001', services: ['stock'] } },
    code: 'CONFIG_INVALID',
    says: ['export.tcp is "7001"', ':7001'],
  },
  {
    what: 'an export of an unknown service',
    config: { services, export: { tcp: ':7001', services: ['stokc'] } },
    code: 'CONFIG_INVALID',
    says: ['export.services names "stokc"', 'web, stock'],
  },
  {
    what: 'callers by name without certificates',
    config: { services, export: { tcp: ':7001', services: ['stock'], allow: { stock: ['shop'] } } },
    code: 'CONFIG_INVALID',
    says: ['export.allow', 'export.tcp cannot prove'],
  },
  {
    what: 'an exported service without callers',
    config: { services, export: { tcp: ':7001', services: ['stock', 'web'], allow: { stock: ['shop'] } } },
    code: 'CONFIG_INVALID',
    says: ['export.allow does not say who may call web', "web: ['*']"],
  },
  {
    what: 'callers of a service that is not exported',
    config: { services, export: { tcp: ':7001', services: ['stock'], allow: { stock: ['*'], web: ['*'] } } },
    code: 'CONFIG_INVALID',
    says: ['export.allow names "web"'],
  },
  {
    what: 'a remote by TLS without a certificate',
    config: { services: { web: './web', far: { remote: 'tls://10.0.0.7:7001' } } },
    code: 'TLS_FILE_UNREADABLE',
    says: ['identity.cert', 'certs/app.pem'],
  },
  ...[{ '1': -2 }, { '1': 'x' }].map((versions) => ({
    what: `a version with the weight ${versions['1']}`,
    config: { services: { web: './web', far: { remote: 'tcp://10.0.0.7:7001', versions } } },
    code: 'CONFIG_INVALID' as const,
    says: ['services.far.versions.1 is', 'a number from 0'],
  })),
  {
    what: 'a version without a name',
    config: { services: { web: './web', far: { remote: 'tcp://10.0.0.7:7001', versions: { '': 1 } } } },
    code: 'CONFIG_INVALID',
    says: ['services.far.versions[""]', 'the name of a version must'],
  },
  ...[[], 5, null, '', [5]].map((remote) => ({
    what: `a remote that is ${JSON.stringify(remote)}`,
    config: { services: { web: { path: './web', needs: ['far'] }, far: { remote } } },
    code: 'CONFIG_INVALID' as const,
    says: ['services.far.remote'],
  })),
  {
    what: 'a list of callers that is a text',
    config: { services, export: { tcp: ':7001', services: ['stock'], allow: { stock: 'shop' } } },
    code: 'CONFIG_INVALID',
    says: ['export.allow.stock is "shop"', 'a list of names of apps'],
  },
  {
    what: 'callers of another service than the exported one',
    config: { services, export: { tcp: ':7001', services: ['stock'], allow: { stok: ['*'] } } },
    code: 'CONFIG_INVALID',
    says: ['does not say who may call stock, and names "stok"'],
  },
  {
    what: 'an export of a service with a typing error',
    config: { services, export: { tcp: ':7001', services: ['stok'] } },
    code: 'CONFIG_INVALID',
    says: ['export.services names "stok"', 'the nearest is stock'],
  },
  {
    what: 'a service of another app that is offered to the cluster',
    config: { services: { far: { remote: 'tcp://10.0.0.7:7001' } }, cluster: { ...cluster, services: ['far'] } },
    code: 'CONFIG_INVALID',
    says: ['cluster.services names "far"', 'another app runs it', 'no service of its own'],
  },
  {
    what: 'a service with a typing error that is offered to the cluster',
    config: { services, cluster: { ...cluster, services: ['wep'] } },
    code: 'CONFIG_INVALID',
    says: ['cluster.services names "wep"', 'the nearest is web'],
  },
  {
    what: 'credentials that are not there',
    config: { services, cluster: { ...cluster, credentials: 'no.creds' } },
    code: 'CONFIG_INVALID',
    says: ['cluster.credentials: <root>/no.creds cannot be read'],
  },
  {
    what: 'authorities of NATS that are not there',
    config: { services, cluster: { ...cluster, tls: { ca: 'ca.pem' } } },
    code: 'TLS_FILE_UNREADABLE',
    says: ['cluster.tls.ca: <root>/ca.pem cannot be read'],
  },
  {
    what: 'a certificate for NATS without a key',
    config: { services, cluster: { ...cluster, tls: { cert: 'app.pem' } } },
    files: { 'app.pem': '' },
    code: 'CONFIG_INVALID',
    says: ['cluster.tls has a cert without a key'],
  },
  {
    what: 'an export on the port of the gateway',
    config: { services, gateway: { port: 7001 }, export: { tcp: '0.0.0.0:7001', services: ['stock'] } },
    code: 'PORT_DUPLICATE',
    says: ['port 7001 is configured twice, by gateway.port and export.tcp'],
  },
  {
    what: 'a queue whose file is a folder',
    config: { services, queues: { file: 'web' } },
    code: 'CONFIG_INVALID',
    says: ['queues.file: <root>/web is a folder'],
  },
])
