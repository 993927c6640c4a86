import * as z from 'zod'
import { maxTemplateLength, maxTemplates, readTemplate } from '../../shared/path-templates/known-templates.ts'
import {
  bytes,
  filled,
  integer,
  mostInstances,
  optionalDuration,
  path,
  port,
  portNumber,
  range,
  size,
} from './fields.ts'
import { remote, versions } from './hosts-schema.ts'
import { cronRestart, health, maxUptime, ready } from './supervision-schema.ts'

export const run = z.enum(['shared', 'thread', 'process']).optional().meta({
  title: '"shared", "thread" or "process"',
  description:
    'Where it runs: in every shared worker, in its own thread, or in its own process. See [placement](#where-services-run).',
})

const permitted = ['addons', 'child-process', 'wasi', 'worker'] as const

export const env = z
  .record(
    z.string().regex(/^[^=\0]+$/),
    z.union([z.string(), z.number(), z.boolean()]).transform(String).meta({ title: 'text, a number or a boolean' }),
  )
  .optional()
  .meta({ title: 'an object of variables', description: 'Its own variables; they override those of `envFile`.' })

export const envFile = filled().optional().meta({
  title: 'a file',
  description: 'A file of `NAME=value` lines, relative to the folder of the config.',
})

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

const build = z
  .union([
    filled(),
    z.literal(false),
    z.strictObject({
      command: filled().optional().meta({
        title: 'a command line',
        description: 'What builds it, in its folder, without a shell. Default: `scripts.build` of its `package.json`.',
      }),
      output: filled().optional().meta({
        title: 'a file or a folder',
        description: 'What the build creates, relative to `path`. Without it, a start is refused. Default: the entry.',
      }),
    }),
  ])
  .optional()
  .meta({
    title: 'a command line, false, or an object',
    description:
      'How `busbar build` builds it. A text is short for its `command`. Default: `scripts.build` of its `package.json`, if there is one.',
  })

const pathTemplates = z
  .array(
    z
      .string()
      .refine((text) => readTemplate(text) !== undefined)
      .meta({
        title: `a path template such as "/items/:id" or "GET /items/:id", of up to ${maxTemplateLength} characters`,
      }),
  )
  .max(maxTemplates)
  .optional()
  .meta({
    title: `a list of up to ${maxTemplates} path templates`,
    description:
      'Templates of its paths, such as `/items/:id` or `GET /items/:id`: by them, [calls are counted](../guides/observe/seeing.md#routes). Those of Fastify, Express and contracts are found without it.',
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
  args: z
    .array(z.string().meta({ title: 'an argument' }))
    .optional()
    .meta({
      title: 'a list of texts',
      description: "The program's arguments, in `process.argv`. Default: those of `scripts.start`.",
    }),
  command: filled().optional().meta({
    title: 'a command line',
    description: 'Instead of a module: any program that listens on the port in the variable `PORT`, or `$PORT` here.',
  }),
  remote,
  versions,
  build,
  run,
  group: filled().optional().meta({
    title: 'a name',
    description: 'Services with the same group share a thread.',
  }),
  instances: z
    .union([integer(1, mostInstances), z.enum(['auto', 'cpus-1']), range])
    .optional()
    .meta({
      title: 'an integer from 1 to 1024, "auto", "cpus-1", or an object of min and max',
      description:
        'How many copies run, each in a thread or process of its own; `auto`: one per usable processor; `{ min, max }`: as many as the [load](../guides/scale/scaling.md) needs.',
    }),
  concurrency: integer(1, 1_000_000).optional().meta({
    title: 'an integer from 1 to 1000000',
    description: 'How many calls an instance handles at a time; further ones wait.',
  }),
  queue: integer(0, 1_000_000).optional().meta({
    title: 'an integer from 0 to 1000000',
    description: 'How many calls may wait if `concurrency` is set; further ones are refused. Default: 256.',
  }),
  grace: optionalDuration(
    0,
    'How long a thread may continue with a call that is over before it is ended and replaced, if `concurrency` is set. Default: 500 ms.',
  ),
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
  startTimeout: optionalDuration(
    1,
    'How long the program may take until it listens. Default: `defaults.startTimeout`.',
  ),
  stopTimeout: optionalDuration(0, "How long its own stop may take; at most the app's `stopTimeout`."),
  ready,
  health,
  maxUptime,
  cronRestart,
  expose,
  port: port().optional().meta({
    title: portNumber,
    description: 'The port of the service, if the program listens on several.',
  }),
  localhost: z
    .union([port(), z.array(port().meta({ title: portNumber }))])
    .optional()
    .meta({
      title: `${portNumber}, or a list of these`,
      description:
        'Ports of this machine that stand for it when services of the app call them: `http://localhost:3001` goes through the [mesh](../guides/call/mesh.md#calls-to-localhost). No port is opened.',
    }),
  sticky: z.enum(['cookie', 'address']).optional().meta({
    title: '"cookie" or "address"',
    description:
      'Requests of one client go to the same [instance](../guides/expose/gateway.md#clients-that-stay-with-an-instance): a client is known by a cookie that the gateway sets, or by its address.',
  }),
  pathTemplates,
  openapi: z
    .union([path(), z.literal(false)])
    .optional()
    .meta({
      title: 'a path, or false',
      description:
        "Where the program publishes its OpenAPI document, which becomes part of the app's; a typed service does so at `/openapi.json`.",
    }),
})

export const service = z
  .union([filled(), serviceObject])
  .meta({ title: 'a folder or file, or an object', description: 'A service. A text is short for its `path`.' })

export type ParsedService = z.output<typeof serviceObject>
