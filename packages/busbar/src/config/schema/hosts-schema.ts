import * as z from 'zod'
import { filled, integer } from './fields.ts'

/** Where another app accepts links. */
export const remote = z
  .union([filled(), z.array(filled().meta({ title: "an address such as 'tls://10.0.0.7:7001'" })).min(1)])
  .optional()
  .meta({
    title: "'cluster', an address such as 'tls://10.0.0.7:7001', or a list of these",
    description:
      'Instead of a module: where another Busbar app serves it: `tls://host:port` or `tcp://host:port` of its export; `cluster` for every host of the `cluster`. See [several hosts](../guides/call/hosts.md).',
  })

/** How calls are divided among versions of the apps that serve it. */
export const versions = z
  .record(
    z.string().regex(/^(\*|[A-Za-z0-9][A-Za-z0-9.+-]{0,63})$/),
    z.number().min(0).max(1_000_000).meta({ title: 'a number from 0 to 1000000' }),
  )
  .optional()
  .meta({
    title: "an object of weights by version, such as { '1': 90, '2.0.0-rc': 10 }",
    description:
      'With `remote`: how calls are divided among the versions of the other apps (in their `package.json`). A version stands for all that begin with it, `*` for all others. Hosts of other versions get no calls. Default: all hosts are equal.',
  })

const callers = z.array(z.string().meta({ title: 'the name of an app, or "*"' })).meta({
  title: "a list of names of apps, such as ['shop']",
})

export const exported = z
  .strictObject({
    tls: filled().optional().meta({
      title: "an address such as ':7001' or '10.0.0.7:7001'",
      description: 'Where other apps connect by mutual TLS; without a host, at all addresses of this machine.',
    }),
    tcp: filled().optional().meta({
      title: "an address such as '127.0.0.1:7001'",
      description:
        'Where other apps connect without TLS: anybody who reaches it may call. Without a host, on loopback only.',
    }),
    services: z
      .array(z.string().meta({ title: 'the name of a service' }))
      .min(1)
      .meta({ title: 'a list of service names', description: 'What other apps may call.' }),
    allow: z.record(z.string(), callers).optional().meta({
      title: 'an object of lists of app names',
      description:
        'By service: the apps that may call it, by the name in their certificate; `*`: every app with a certificate of the CA. With `allow`, every exported service is listed. Default: every such app may call all of them.',
    }),
  })
  .optional()
  .meta({
    title: 'an object of tls or tcp, services and allow',
    description: 'What other Busbar apps may call. See [several hosts](../guides/call/hosts.md).',
  })

const file = (description: string) => filled().optional().meta({ title: 'a file', description })

export const identity = z
  .strictObject({
    cert: filled().prefault('certs/app.pem').meta({
      title: 'a file',
      description: 'PEM file of the certificate of this app, and of those that signed it.',
    }),
    key: filled().prefault('certs/app-key.pem').meta({
      title: 'a file',
      description: 'PEM file of its private key, without a passphrase.',
    }),
    ca: filled().prefault('certs/ca.pem').meta({
      title: 'a file',
      description: 'PEM file of the CA that signs the certificates of all apps that call each other.',
    }),
    crl: file(
      'PEM file with the list of revoked certificates of each CA in `identity.ca`; `busbar cert --revoke` makes one. Default: no certificate is revoked.',
    ),
  })
  .prefault({})
  .meta({
    title: 'an object of cert, key, ca and crl',
    description:
      'How this app proves who it is to others, and checks them; the files are read again when they change. `busbar cert` makes them.',
  })

export const cluster = z
  .strictObject({
    nats: z
      .union([filled(), z.array(filled().meta({ title: "an address such as 'nats://10.0.0.1:4222'" })).min(1)])
      .meta({
        title: "an address such as 'nats://10.0.0.1:4222', or a list of addresses",
        description:
          'The NATS servers: `nats://host:port`, or `tls://host:port` to require TLS; with `user:password@` before the host if they need it.',
      }),
    name: filled().meta({
      title: 'a name',
      description: 'Apps with this name call each other: letters, digits, `-` and `_`.',
    }),
    credentials: file(
      'Credentials of this app, as `nsc` writes them, or the seed of an nkey; read again for each connection.',
    ),
    tls: z
      .strictObject({
        ca: file('PEM file of the CA that signs the certificates of the servers. Default: those of Node.'),
        cert: file('PEM file of the certificate of this app, if the servers ask for one.'),
        key: file('PEM file of its private key.'),
      })
      .optional()
      .meta({ title: 'an object of ca, cert and key', description: 'Requires TLS to the servers.' }),
    services: z
      .array(z.string().meta({ title: 'the name of a service' }))
      .optional()
      .meta({
        title: 'a list of service names',
        description: 'What other apps of the cluster may call. Default: every service of this app.',
      }),
    replicas: integer(1, 5).prefault(1).meta({
      title: 'an integer from 1 to 5',
      description:
        'How many of the servers keep the items of the queue and the state of the schedule. 3 survives the loss of one server.',
    }),
  })
  .optional()
  .meta({
    title: 'an object of nats, name, credentials, tls, services and replicas',
    description: 'Calls to and from other apps over NATS. See [several hosts](../guides/call/hosts.md#over-nats).',
  })
