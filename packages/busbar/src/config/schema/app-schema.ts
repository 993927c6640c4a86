import * as z from 'zod'
import { acceleratorNames } from '../../shared/accelerators.ts'
import {
  bytes,
  durationWithDefault,
  filled,
  integer,
  optionalDuration,
  port,
  portNumber,
  mostInstances,
  range,
  size,
  text,
} from './fields.ts'
import { gateway } from './gateway-schema.ts'
import { cluster, exported, identity } from './hosts-schema.ts'
import { logs } from './logs-schema.ts'
import { queues } from './queues-schema.ts'
import { schedule } from './schedule-schema.ts'
import { env, envFile, run, service } from './service-schema.ts'
import { otlp, traces } from './telemetry-schema.ts'
import { trial } from './supervision-schema.ts'

const defaults = z
  .strictObject({
    run,
    env,
    envFile,
    startTimeout: durationWithDefault('30s', 1, 'How long a program may take until it listens.'),
    stopTimeout: optionalDuration(
      0,
      "How long a service's own stop may take; at most the app's `stopTimeout`, which is the default.",
    ),
  })
  .prefault({})
  .meta({ title: 'an object', description: 'Values for every service that does not set its own.' })

const limits = z
  .strictObject({
    headerTimeout: durationWithDefault('10s', 1, 'Time for a connection to send all headers of a request (408).'),
    requestTimeout: durationWithDefault('300s', 0, 'Time for a whole request to arrive (408); 0: no limit.'),
    responseTimeout: durationWithDefault('60s', 0, 'Time for a service to begin its response (504); 0: no limit.'),
    keepAliveTimeout: durationWithDefault('72s', 1, 'How long a connection may be idle between two requests.'),
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
    webSocketDrain: durationWithDefault(
      '3s',
      0,
      'How long a WebSocket of a worker that is replaced or stops may stay open, before it is closed with 1012 (1001 when the app stops); at most half of `stopTimeout`.',
    ),
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

const environments = z.record(z.string(), z.record(z.string(), z.unknown())).optional().meta({
  title: 'an object of configs',
  description:
    'Values by environment: `--env production` merges `environments.production` over the rest. Objects are merged, everything else is replaced, and `null` removes a key.',
})

/**
 * The single source of the config: the types of `defineApp`, validation with defaults, the JSON
 * Schema for editors and the tables of `docs/reference/config.md` are derived from it. A `title`
 * names the allowed values, and error messages print it. A `description` says what the key does.
 */
export const appSchema = z
  .strictObject({
    $schema: z.string().optional().meta({ title: text, description: 'For editors: where the JSON Schema is.' }),
    workers: z
      .union([integer(1, mostInstances), z.literal('auto'), range])
      .prefault(1)
      .meta({
        title: 'an integer from 1 to 1024, "auto", or an object of min and max',
        description:
          'How many shared workers, each with a copy of every shared service; `auto`: one per usable processor; `{ min, max }`: as many as the [load](../guides/scale/scaling.md) needs.',
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
          'Which [accelerators](../guides/scale/accelerators.md) workers use. `BUSBAR_ACCELERATORS` overrides it: `all`, `none`, or names separated by commas.',
      }),
    stopTimeout: durationWithDefault('8s', 0, 'How long a stop waits for what is in flight.'),
    trial,
    slowStart: durationWithDefault(
      '3s',
      0,
      'Under load, how long a new [generation](../guides/operate/changing.md) gets a growing share of the calls and connections before it takes over.',
    ),
    maxRestarts: integer(0, 1_000_000).optional().meta({
      title: 'an integer from 0 to 1000000',
      description:
        'How many times in a row a worker that dies is restarted before the app ends with an error. A worker that served for `stableAfter` starts a new count. Default: no limit.',
    }),
    stableAfter: durationWithDefault(
      '60s',
      1,
      'How long a worker must serve before its death counts as the first in a row again.',
    ),
    startConcurrency: integer(1, 1_024).optional().meta({
      title: 'an integer from 1 to 1024',
      description:
        'How many workers start at a time. Default: all when the app starts; half as many as there are cores when others serve, as in a reload.',
    }),
    stopDelay: durationWithDefault(
      '0s',
      0,
      'How long a stop goes on serving while `/readyz` already answers 503: time for a load balancer to notice.',
    ),
    gateway,
    admin,
    limits,
    logs,
    traces,
    otlp,
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
    environments,
    schedule,
    queues,
    export: exported,
    cluster,
    identity,
    services: z.record(z.string(), service).optional().meta({
      title: 'an object of services',
      description: 'The services by name. Default: every folder of `services/` with a `package.json` or an `index.*`.',
    }),
  })
  .meta({ title: 'an object', description: 'An app of Busbar.' })

/** The config as users write it. */
export type AppConfig = z.input<typeof appSchema>
/** The config after validation: defaults filled in, durations in milliseconds, sizes in bytes. */
export type ParsedConfig = z.output<typeof appSchema>
