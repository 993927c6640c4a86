import * as z from 'zod'
import { acceleratorNames } from '../../shared/accelerators.ts'
import { duration, integer, size } from './units.ts'

/**
 * The config's one source: `defineApp`'s types, validation with defaults, the JSON Schema for editors and the tables
 * of `docs/reference/config.md` all come from here. A title says what a value may be (errors print it), a description
 * what it means.
 */
const text = 'text'
const milliseconds = 'a duration: milliseconds, or text such as "500ms", "10s", "2m"'
const bytes = 'a size: bytes, or text such as "16kb", "10mb", "1gb"'
const portNumber = 'a port: an integer from 0 to 65535'

const port = () => integer(0, 65_535)
const filled = () => z.string().min(1)

const run = z.enum(['shared', 'thread', 'process']).optional().meta({
  title: '"shared", "thread" or "process"',
  description:
    'Where it runs: in every shared worker, in its own thread, or in its own process. See [placement](#where-services-run).',
})

const permitted = ['addons', 'child-process', 'wasi', 'worker'] as const

/** As a request target begins: what the gateway compares it with. */
const path = () => z.string().regex(/^(?:\/[\w.~-]+)+$/)

const env = z
  .record(
    z.string().regex(/^[^=\0]+$/),
    z.union([z.string(), z.number(), z.boolean()]).transform(String).meta({ title: 'text, a number or a boolean' }),
  )
  .optional()
  .meta({ title: 'an object of variables', description: 'Its own variables; they override those of `envFile`.' })

const envFile = filled().optional().meta({
  title: 'a file',
  description: 'A file of `NAME=value` lines, relative to the folder of the config.',
})

const defaults = z
  .strictObject({
    run,
    env,
    envFile,
    startTimeout: duration(1).prefault('30s').meta({
      title: milliseconds,
      description: 'How long a program may take until it listens.',
    }),
    stopTimeout: duration(0).optional().meta({
      title: milliseconds,
      description: "How long a service's own stop may take; at most the app's `stopTimeout`, which is the default.",
    }),
  })
  .prefault({})
  .meta({ title: 'an object', description: 'Values for every service that does not set its own.' })

const address = z.strictObject({
  host: filled().prefault('127.0.0.1').meta({ title: 'a host', description: 'The address to listen on.' }),
  port: port().meta({ title: portNumber, description: 'The port. 0 selects a free one.' }),
})

const expose = z
  .union([
    port(),
    address,
    z.array(z.union([port(), address]).meta({ title: 'a port, or an object of host and port' })),
  ])
  .optional()
  .meta({
    title: 'a port, or an object of host and port, or a list of these',
    description:
      'Also opens ports of its own. A port that the program itself listens on leads to that server, any other to the service.',
  })

const permissions = z
  .strictObject({
    read: z
      .array(filled().meta({ title: 'a folder or a file' }))
      .optional()
      .meta({
        title: 'a list of folders and files',
        description: 'What it may read besides the app and Busbar, relative to the folder of the config.',
      }),
    write: z
      .array(filled().meta({ title: 'a folder or a file' }))
      .optional()
      .meta({
        title: 'a list of folders and files',
        description: 'What it may write, relative to the folder of the config.',
      }),
    allow: z
      .array(z.enum(permitted).meta({ title: permitted.map((one) => `"${one}"`).join(' or ') }))
      .optional()
      .meta({
        title: 'a list of "addons", "child-process", "wasi", "worker"',
        description: "What else it may do: Node's flags `--allow-…`.",
      }),
  })
  .optional()
  .meta({
    title: 'an object of read, write and allow',
    description: "Runs a process under Node's permission model; `{}` allows it to read the app, and nothing else.",
  })

const serviceObject = z.strictObject({
  path: filled().optional().meta({
    title: 'a folder or a file',
    description:
      'Where it is, relative to the folder of the config. For a `command`: the folder it runs in, if another.',
  }),
  entry: filled().optional().meta({
    title: 'a file',
    description: 'The module to start, relative to `path`. By default Busbar finds it: see below.',
  }),
  command: filled().optional().meta({
    title: 'a command line',
    description: 'Instead of a module: any program that listens on the port in the variable `PORT`, or `$PORT` here.',
  }),
  run,
  group: filled().optional().meta({
    title: 'a name',
    description: 'Services with the same group share a thread.',
  }),
  instances: z
    .union([integer(1, 1_024), z.enum(['auto', 'cpus-1'])])
    .optional()
    .meta({
      title: 'an integer from 1 to 1024, "auto" or "cpus-1"',
      description: 'How many copies run, each in a thread or process of its own; `auto`: one per usable processor.',
    }),
  concurrency: integer(1, 1_000_000).optional().meta({
    title: 'an integer from 1 to 1000000',
    description: 'How many calls an instance handles at a time; further ones wait.',
  }),
  queue: integer(0, 1_000_000).optional().meta({
    title: 'an integer from 0 to 1000000',
    description: 'How many calls may wait if `concurrency` is set; further ones are refused. Default: 256.',
  }),
  grace: duration(0).optional().meta({
    title: milliseconds,
    description:
      'How long a thread may continue with a call that is over before it is ended and replaced, if `concurrency` is set. Default: 500 ms.',
  }),
  spare: z.boolean().optional().meta({
    title: 'true or false',
    description:
      'Whether one more thread is kept ready for each instance. It gets no calls before it replaces one that ended.',
  }),
  memory: size().optional().meta({
    title: bytes,
    description:
      'Memory limit: of a thread its heap, of a process all of its memory. An instance that exceeds it is replaced.',
  }),
  nodeOptions: z
    .union([z.string(), z.array(filled().meta({ title: 'a flag' }))])
    .optional()
    .meta({
      title: "Node's flags, as text or a list",
      description: 'Flags of a process, after those of `scripts.start`.',
    }),
  permissions,
  env,
  envFile,
  needs: z
    .array(z.string().meta({ title: 'the name of a service' }))
    .optional()
    .meta({
      title: 'a list of service names',
      description: 'Services that start before it and stop after it.',
    }),
  startTimeout: duration(1).optional().meta({
    title: milliseconds,
    description: 'How long the program may take until it listens. Default: `defaults.startTimeout`.',
  }),
  stopTimeout: duration(0).optional().meta({
    title: milliseconds,
    description: "How long its own stop may take; at most the app's `stopTimeout`.",
  }),
  expose,
  port: port().optional().meta({
    title: portNumber,
    description: 'The port of the service, if the program listens on several.',
  }),
  openapi: z
    .union([path(), z.literal(false)])
    .optional()
    .meta({
      title: 'a path, or false',
      description:
        "Where the program publishes its OpenAPI document, which becomes part of the app's; a typed service does so at `/openapi.json`.",
    }),
})

const service = z
  .union([filled(), serviceObject])
  .meta({ title: 'a folder or file, or an object', description: 'A service. A text is short for its `path`.' })

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
})

const route = z.union([z.string(), routeObject]).meta({
  title: 'the name of a service, or an object of service and strip',
  description: 'A route. A text is short for its `service`.',
})

const gateway = z
  .strictObject({
    host: filled().prefault('127.0.0.1').meta({ title: 'a host', description: 'The address to listen on.' }),
    port: port().optional().meta({
      title: portNumber,
      description: 'The public port. Default: the variable `PORT`, else 3000. 0 selects a free one.',
    }),
    tls: z
      .strictObject({
        cert: filled().meta({
          title: 'a file',
          description: 'PEM file of the certificate and of those that signed it.',
        }),
        key: filled().meta({ title: 'a file', description: 'PEM file of its private key, without a passphrase.' }),
      })
      .optional()
      .meta({
        title: 'an object of cert and key',
        description: 'Serves HTTPS; the files are read again when they change.',
      }),
    entry: z.string().optional().meta({
      title: 'the name of a service',
      description: 'Gets the requests that no route matches. Without routes its own server gets the raw connections.',
    }),
    routes: z.record(z.string(), route).optional().meta({
      title: 'an object of routes',
      description: 'Which service gets `/prefix`, `host.example` or `host.example/prefix`.',
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
        description: 'Sites whose pages may call typed services: `https://shop.example`, or `*` for all.',
      }),
    openapi,
  })
  .prefault({})
  .meta({ title: 'an object', description: 'The public entrance.' })

const limits = z
  .strictObject({
    headerTimeout: duration(1).prefault('10s').meta({
      title: milliseconds,
      description: 'Time for a connection to send all headers of a request (408).',
    }),
    requestTimeout: duration(0).prefault('300s').meta({
      title: milliseconds,
      description: 'Time for a whole request to arrive (408); 0: no limit.',
    }),
    responseTimeout: duration(0).prefault('60s').meta({
      title: milliseconds,
      description: 'Time for a service to begin its response (504); 0: no limit.',
    }),
    keepAliveTimeout: duration(1).prefault('72s').meta({
      title: milliseconds,
      description: 'How long a connection may be idle between two requests.',
    }),
    maxHeaderSize: size(1024 ** 3)
      .prefault('16kb')
      .meta({
        title: bytes,
        description: 'All headers of a request together (431).',
      }),
    maxBodySize: size().prefault('1gb').meta({ title: bytes, description: "A request's body (413)." }),
    maxInputSize: size().prefault('4mb').meta({
      title: bytes,
      description: 'The input of a typed call over HTTP (413); at most `maxBodySize`.',
    }),
    maxInFlight: integer(1, 1_000_000).prefault(10_000).meta({
      title: 'an integer from 1 to 1000000',
      description: 'Typed calls in flight per instance of a service; further ones are refused (503).',
    }),
    maxHops: integer(1, 1_000).prefault(16).meta({
      title: 'an integer from 1 to 1000',
      description: 'Length of a chain of calls that cause calls; a call beyond it is answered 508.',
    }),
  })
  .prefault({})
  .meta({
    title: 'an object',
    description: "The gateway's limits. With a raw `entry` the program's own limits apply, except `maxHops`.",
  })

const admin = z
  .strictObject({
    host: filled().prefault('127.0.0.1').meta({ title: 'a host', description: 'The address to listen on.' }),
    port: port().meta({ title: portNumber, description: 'The port. 0 selects a free one.' }),
    token: z.string().min(16).meta({
      title: 'a text of at least 16 characters',
      description: 'The token that clients must send: `authorization: Bearer <token>`.',
      writeOnly: true,
    }),
  })
  .optional()
  .meta({
    title: 'an object of host, port and token',
    description: 'Opens a port for metrics and status, beside the socket that `busbar ps` uses.',
  })

export const appSchema = z
  .strictObject({
    $schema: z.string().optional().meta({ title: text, description: 'For editors: where the JSON Schema is.' }),
    workers: z
      .union([integer(1, 1_024), z.literal('auto')])
      .prefault(1)
      .meta({
        title: 'an integer from 1 to 1024, or "auto"',
        description:
          'How many shared workers, each with a copy of every shared service; `auto`: one per usable processor.',
      }),
    accept: z.enum(['balanced', 'reusePort']).prefault('balanced').meta({
      title: '"balanced" or "reusePort"',
      description:
        'Who accepts connections: the main thread, which passes each to the worker with the fewest, or each worker itself.',
    }),
    accelerators: z
      .union([z.enum(['all', 'none']), z.array(z.enum(acceleratorNames).meta({ title: 'an accelerator' }))])
      .prefault('all')
      .meta({
        title: '"all", "none" or a list of accelerators',
        description:
          'Which [accelerators](../guides/accelerators.md) workers use. `BUSBAR_ACCELERATORS` overrides it: `all`, `none`, or names separated by commas.',
      }),
    stopTimeout: duration(0).prefault('8s').meta({
      title: milliseconds,
      description: 'How long a stop waits for what is in flight.',
    }),
    maxRestarts: integer(0, 1_000_000).optional().meta({
      title: 'an integer from 0 to 1000000',
      description:
        'How many times in a row a worker that dies is restarted before the app ends with an error. A worker that served for a minute starts a new count. Default: no limit.',
    }),
    gateway,
    admin,
    limits,
    interceptors: filled().optional().meta({
      title: 'a file',
      description:
        'Module whose default export wraps every call of a typed service: an interceptor, or a list of them.',
    }),
    validate: z.enum(['always', 'edge']).prefault('always').meta({
      title: '"always" or "edge"',
      description: 'Whether typed calls between services are checked by their schemas; those from outside always are.',
    }),
    defaults,
    services: z.record(z.string(), service).optional().meta({
      title: 'an object of services',
      description: 'The services by name. Default: every folder of `services/` with a `package.json` or an `index.*`.',
    }),
  })
  .meta({ title: 'an object', description: 'An app of Busbar.' })

/** What a config may say. */
export type AppConfig = z.input<typeof appSchema>
/** The same after parsing: defaults filled, milliseconds and bytes. */
export type ParsedConfig = z.output<typeof appSchema>
export type ParsedService = z.output<typeof serviceObject>
export type ParsedRoute = z.output<typeof route>
