import * as z from 'zod'
import { filled, path, port, portNumber, text } from './fields.ts'
import { clientCertificate, tls } from './tls-schema.ts'

const openapi = z
  .union([
    z.boolean(),
    z.strictObject({
      path: path()
        .optional()
        .meta({ title: 'a path', description: 'The path of the document. Default: `/openapi.json`.' }),
      page: z
        .union([path(), z.literal(false)])
        .optional()
        .meta({ title: 'a path, or false', description: 'The path of the page for people. Default: `/docs`.' }),
      title: filled()
        .optional()
        .meta({ title: text, description: "The document's title. Default: the name of the app." }),
      version: filled().optional().meta({
        title: text,
        description: "The document's version. Default: that of the app's `package.json`.",
      }),
    }),
  ])
  .optional()
  .meta({
    title: 'true, false, or an object',
    description:
      'The OpenAPI document of the app. By default it is served if a service has one and no `entry` takes its path.',
  })

const routeObject = z.strictObject({
  service: z.string().meta({ title: 'the name of a service', description: 'Which service gets its requests.' }),
  strip: z.boolean().optional().meta({
    title: 'true or false',
    description: 'False passes the path on unchanged. By default the prefix is cut off.',
  }),
  clientCertificate: clientCertificate(
    'Whether its clients must show a certificate. Default: `gateway.tls.clientCertificate`.',
  ),
})

const route = z.union([z.string(), routeObject]).meta({
  title: 'the name of a service, or an object of service, strip and clientCertificate',
  description: 'A route. A text is short for its `service`.',
})

export const gateway = z
  .strictObject({
    host: filled().prefault('127.0.0.1').meta({ title: 'a host', description: 'The address to listen on.' }),
    port: port().optional().meta({
      title: portNumber,
      description: 'The public port. Default: the variable `PORT`, else 3000. 0 selects a free one.',
    }),
    tls,
    entry: z.string().optional().meta({
      title: 'the name of a service',
      description: 'Gets the requests that no route matches. Without routes its own server gets the raw connections.',
    }),
    routes: z.record(z.string(), route).optional().meta({
      title: 'an object of routes',
      description: 'Which service gets `/prefix`, `host.example` or `host.example/prefix`.',
    }),
    entrance: z.enum(['auto', 'native', 'portable']).prefault('auto').meta({
      title: '"auto", "native" or "portable"',
      description:
        'Who accepts connections and reads requests: the [native entrance](../guides/expose/entrance.md) in Rust, or the gateway in JavaScript. `auto`: the native entrance with `tls` or `grpc`, where its binary is there, else the other.',
    }),
    raw: z.boolean().optional().meta({
      title: 'true or false',
      description:
        'Whether the own server of a sole `entry` gets the raw connections, past the native entrance too. False: never. By default it gets them if no other key needs the gateway.',
    }),
    balance: z.enum(['request', 'connection']).optional().meta({
      title: '"request" or "connection"',
      description:
        'What the native entrance gives to a worker: each request by itself (the default), or a connection with all of its requests. The portable gateway gives connections only.',
    }),
    batchWrites: z.boolean().optional().meta({
      title: 'true or false',
      description:
        'Whether a worker batches what it writes to its connections in one turn of its event loop. Programs are then told that bytes are written before they are.',
    }),
    cors: z
      .array(
        z
          .string()
          .regex(/^(?:\*|https?:\/\/[^/?#*]+)$/)
          .meta({ title: 'an origin, such as "https://shop.example", or "*"' }),
      )
      .optional()
      .meta({
        title: 'a list of origins',
        description:
          'Sites whose pages may call typed services, and read errors of the gateway itself: `https://shop.example`, or `*` for all.',
      }),
    openapi,
    grpc: z
      .union([
        z.boolean(),
        z.strictObject({
          reflection: z.boolean().optional().meta({
            title: 'true or false',
            description: 'Whether clients may ask which services and messages there are. Default: true.',
          }),
        }),
      ])
      .optional()
      .meta({
        title: 'true, false, or an object',
        description:
          'Serves [gRPC](../guides/call/grpc.md) at the same port: the typed services that a route or `entry` leads to, health and reflection. Default: false.',
      }),
    probes: z.boolean().optional().meta({
      title: 'true or false',
      description:
        'Whether the gateway answers `/healthz` and `/readyz`, before any route. The admin socket and port do so in any case.',
    }),
  })
  .prefault({})
  .meta({ title: 'an object', description: 'The public entrance.' })

export type ParsedRoute = z.output<typeof route>
