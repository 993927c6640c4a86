/**
 * The shape of {@link AppStatus} for the OpenAPI document. A test ties it to what an app answers.
 */
import * as z from 'zod'
import { delayNames, gcKinds } from '../../../shared/metrics/runtime-cells.ts'
import type { AppStatus } from '../../../observe/app-status.ts'

const milliseconds = z.number().meta({ description: 'milliseconds' })
const count = z.int()
const state = z.enum(['starting', 'serving', 'blocked', 'draining', 'waiting', 'givenUp', 'stopped'])

const app = z.object({
  name: z.string(),
  root: z.string().meta({ description: 'its folder' }),
  file: z.string().meta({ description: 'the config, or the program of an app without one' }),
  pid: z.int().meta({ description: 'the process of the supervisor' }),
  startedAt: z.number().meta({ description: 'milliseconds since 1970' }),
  phase: z.enum(['starting', 'running', 'stopping']),
  ready: z.boolean(),
  unready: z.array(z.string()).meta({ description: 'services without a serving instance; `gateway` for the gateway' }),
  cpuTime: milliseconds,
  memory: z.number().meta({ description: 'bytes of the whole process' }),
})

const accelerator = z.object({ name: z.string(), on: z.boolean(), why: z.string().nullable() })

const runtime = z.object({
  delays: z.record(z.enum(delayNames), milliseconds),
  loopTime: z.object({ active: milliseconds, idle: milliseconds }),
  heap: z.object({ total: z.number(), limit: z.number(), external: z.number() }),
  spaces: z.array(
    z.object({
      name: z.string(),
      size: z.number(),
      used: z.number(),
      available: z.number(),
      physical: z.number(),
    }),
  ),
  gc: z.array(z.object({ kind: z.enum(gcKinds), sum: milliseconds, counts: z.array(count) })),
})

const worker = z.object({
  worker: z.int().meta({ description: 'the index of the slot' }),
  name: z.string(),
  kind: z.enum(['shared', 'thread', 'process', 'command']),
  state,
  pid: z.int().nullable(),
  startedAt: z.number().nullable().meta({ description: 'of this worker, in milliseconds since 1970' }),
  restarts: count,
  startsIn: milliseconds.nullable(),
  lastExit: z
    .object({ why: z.string(), service: z.string().nullable(), text: z.string(), stack: z.array(z.string()) })
    .nullable(),
  connections: count,
  requests: count,
  silentFor: milliseconds.nullable(),
  cpuTime: milliseconds.nullable(),
  cpu: z.number().nullable().meta({ description: 'processors used over the last second' }),
  eventLoopUtilization: z.number().nullable(),
  eventLoopDelay: milliseconds.nullable(),
  heapUsed: z.number().nullable(),
  gcTime: milliseconds.nullable(),
  runtime: runtime.nullable(),
  memory: z.number().nullable(),
  spare: z.object({ state: z.enum(['starting', 'ready']), memory: z.number().nullable() }).nullable(),
})

const instance = z.object({
  service: z.string(),
  instance: z.int(),
  worker: z.int(),
  state,
  unhealthy: z.string().nullable().meta({ description: 'why its health checks fail' }),
  inFlight: count,
  calls: count,
  failures: count,
  callsPerSecond: z.number(),
})

const timed = count.meta({ description: 'those whose duration is known: not those in flight when a worker died' })

const calls = z.object({
  caller: z.string(),
  callee: z.string(),
  count,
  timed,
  sum: milliseconds,
  p50: milliseconds,
  p99: milliseconds,
  buckets: z.array(z.object({ le: milliseconds.nullable(), count })),
})

const buckets = z.array(z.object({ le: milliseconds.nullable(), count }))

const slot = z.int().nullable().meta({ description: 'the index of a slot; null: unknown, or none of this app' })

const outcome = z.object({
  status: z.string(),
  count,
  timed,
  sum: milliseconds,
  buckets,
  workers: z
    .array(z.looseObject({ caller: slot, callee: slot, count, timed, sum: milliseconds, buckets }))
    .meta({ description: 'the same calls by the workers that made and answered them' }),
})

/** The calls of one caller to one method or route of a service, over one transport. */
export const edgeSchema = z.object({
  caller: z.string().meta({ description: 'a service; empty for calls from outside' }),
  callee: z.string(),
  protocol: z.enum(['http', 'rpc']),
  method: z.string(),
  route: z.string().meta({ description: 'of the gateway; empty for calls between services' }),
  transport: z.string(),
  inFlight: count,
  calls: count,
  failures: count,
  retries: count,
  callsPerSecond: z.number(),
  p50: milliseconds,
  p99: milliseconds,
  outcomes: z.array(outcome.loose()),
})

const run = z.object({
  planned: z.number().meta({ description: 'milliseconds since 1970' }),
  started: z.number().nullable(),
  took: milliseconds.nullable(),
  outcome: z.enum(['running', 'succeeded', 'failed', 'overlapped', 'missed']),
  error: z.string().nullable(),
})

/** An entry of the schedule. */
export const scheduleSchema = z.object({
  name: z.string(),
  cron: z.string(),
  timeZone: z.string().nullable(),
  target: z.string().meta({ description: 'what it runs' }),
  overlap: z.enum(['skip', 'queue', 'allow']),
  next: z.number().nullable().meta({ description: 'milliseconds since 1970' }),
  running: count,
  succeeded: count,
  failed: count,
  runs: z.array(run.loose()).meta({ description: 'the last ones, the oldest first' }),
})

const remoteHost = z.object({
  host: z.string().meta({ description: 'its address, or what it is in the cluster' }),
  app: z.string().nullable(),
  version: z.string().nullable().meta({ description: 'of the app, from its package.json' }),
  contract: z.string().nullable().meta({ description: 'the same for the same contract of the service' }),
  state: z.enum(['linked', 'unlinked', 'ejected']),
  why: z.string().nullable().meta({ description: 'why it gets no calls' }),
  links: count.meta({ description: 'workers of this app with a link to it' }),
  load: count.nullable().meta({ description: 'calls in flight there, of all callers' }),
  inFlight: count.meta({ description: 'unfinished calls of this app' }),
  silentFor: milliseconds.nullable(),
})

const member = z.object({
  host: z.string(),
  app: z.string(),
  machine: z.string(),
  version: z.string().nullable(),
  silentFor: milliseconds,
  services: z.array(z.object({ service: z.string(), load: count, contract: z.string().nullable() })),
})

const cluster = z.object({
  name: z.string(),
  host: z.string().meta({ description: 'the id of this app in it' }),
  fault: z.string().nullable().meta({ description: 'why there is no connection to NATS' }),
  members: z.array(member.loose()),
})

const events = z.object({ handled: count, failed: count, dropped: count, waiting: count })
const queue = z.object({
  enqueued: count,
  duplicates: count,
  attempts: count,
  failures: count,
  buried: count,
  waiting: count,
  running: count,
  dead: count,
})

/** New versions only add keys. */
export const statusSchema = z.looseObject({
  app: app.loose(),
  accelerators: z.array(accelerator.loose()),
  workers: z.array(worker.loose()),
  services: z.array(
    z.looseObject({
      service: z.string(),
      calls: count.meta({ description: 'of all instances that it has had; a command counts none' }),
      failures: count,
      waiting: count,
      shed: count,
      events: events.loose(),
      queue: queue.loose(),
    }),
  ),
  instances: z.array(instance.loose()),
  calls: z.array(calls.loose()),
  edges: z.array(edgeSchema.loose()),
  remotes: z.array(z.looseObject({ service: z.string(), reachable: z.boolean(), hosts: z.array(remoteHost.loose()) })),
  cluster: cluster.loose().nullable(),
  schedule: z.array(scheduleSchema.loose()),
}) as unknown as z.ZodType<AppStatus>
