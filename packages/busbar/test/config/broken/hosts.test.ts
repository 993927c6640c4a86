import { refused } from '../../support/app/config-failures.ts'

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
])
