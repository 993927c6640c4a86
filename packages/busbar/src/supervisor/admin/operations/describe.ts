import * as z from 'zod'
import type { App, Service } from '../../../config/app.ts'
import { Redactor } from '../../../observe/redactor.ts'
import { referenceUrl } from '../../reference-url.ts'
import type { RunningApp } from '../../running-app.ts'
import { knownService } from './serving-worker.ts'
import { defineJson } from './operation.ts'
import { redactedStatus, maskSecret } from '../status/redacted.ts'
import { edgeSchema, scheduleSchema } from '../status/status-schema.ts'

const address = z.object({
  url: z.string(),
  serves: z.string().meta({ description: 'a service, `gateway` or `redirect`' }),
})

export type ListedAddress = z.output<typeof address>

const service = z.looseObject({
  name: z.string(),
  kind: z.enum(['program', 'typed', 'command']),
  run: z.enum(['shared', 'thread', 'process']),
  group: z.string().nullable(),
  instances: z.int(),
  concurrency: z.int().nullable(),
  memory: z.number().nullable().meta({ description: 'bytes' }),
  path: z.string(),
  entry: z.string(),
  foundBy: z.string().meta({ description: 'how the entry was found' }),
  needs: z.array(z.string()),
  env: z.record(z.string(), z.string()).meta({ description: 'from the config; secrets are masked' }),
})

const description = z.looseObject({
  name: z.string(),
  root: z.string(),
  configFile: z.string().nullable(),
  process: z.object({
    pid: z.int(),
    node: z.string(),
    execPath: z.string(),
  }),
  command: z
    .object({
      mode: z.enum(['start', 'dev']),
      args: z.array(z.string()).meta({ description: 'of the command line that runs the app' }),
      folder: z.string().meta({ description: 'the working directory' }),
      isDetached: z.boolean().meta({ description: 'started by busbar start -d' }),
    })
    .nullable()
    .meta({ description: 'null: a program runs the app, by startApp()' }),
  workers: z.int(),
  stopTimeout: z.number().meta({ description: 'milliseconds' }),
  addresses: z.array(address),
  reference: z.string().nullable().meta({ description: 'the page that shows the API of the app' }),
  adminUrls: z.array(z.string()),
  routes: z.array(z.object({ host: z.string().nullable(), prefix: z.string(), service: z.string() })),
  services: z.array(service),
  schedule: z.array(scheduleSchema.loose()),
  edges: z.array(
    edgeSchema.extend({ outcomes: z.array(z.looseObject({ status: z.string(), count: z.int() })) }).loose(),
  ),
})

export const describeApp = defineJson({
  name: 'describeApp',
  method: 'GET',
  path: '/describe',
  summary: 'The app as its config was resolved, and how it runs. Secrets are masked.',
  input: z.strictObject({}),
  output: description,
  handle: (_, { running, command }) => ({
    name: running.app.name,
    root: running.app.root,
    configFile: running.app.configFile ?? null,
    process: {
      pid: process.pid,
      node: process.versions.node,
      execPath: process.execPath,
    },
    command: command === undefined ? null : { ...command, args: [...command.args] },
    workers: running.app.workers,
    stopTimeout: running.app.stopTimeout,
    addresses: addressesOf(running),
    reference: referenceUrl(running) ?? null,
    adminUrls: [...running.adminUrls],
    routes: routesOf(running.app),
    schedule: redactedStatus(running.status(), running.app).schedule.map((entry) => ({
      ...entry,
      runs: entry.runs.map((run) => ({ ...run })),
    })),
    services: running.app.services.map((one) => describeService(one, running.app)),
    edges: running.status().edges.map((edge) => ({
      ...edge,
      outcomes: edge.outcomes.map(({ status, count }) => ({ status, count })),
    })),
  }),
})

export const getEnvironment = defineJson({
  name: 'getEnvironment',
  method: 'GET',
  path: '/env',
  summary: 'The environment of each service: what the config sets, or all of it. Secrets are masked.',
  input: z.strictObject({
    service: z.string().optional(),
    all: z.stringbool().default(false).meta({ description: 'also the variables inherited from the process' }),
  }),
  output: z.object({ services: z.record(z.string(), z.record(z.string(), z.string())) }),
  handle({ service: wanted, all }, { running }) {
    const services = wanted === undefined ? running.app.services : [knownService(running.app, wanted)]
    const inherited = all ? definedOf(process.env) : {}
    return {
      services: Object.fromEntries(
        services.map(({ name, env }) => [name, masked({ ...inherited, ...env }, running.app)]),
      ),
    }
  },
})

export function addressesOf({ addresses }: Pick<RunningApp, 'addresses'>): ListedAddress[] {
  return addresses.map(({ url, serves }) => ({ url, serves: serves.kind === 'service' ? serves.service : serves.kind }))
}

function routesOf({ gateway: { entry, routes } }: App): z.output<typeof description>['routes'] {
  const listed = routes.map(({ host, prefix, service }) => ({ host: host ?? null, prefix: prefix || '/', service }))
  return entry === undefined ? listed : [...listed, { host: null, prefix: '/', service: entry }]
}

function describeService(one: Service, app: App): z.output<typeof service> {
  const { name, kind, run, group, instances, concurrency, memory, path, entry, needs, env } = one
  return {
    name,
    kind,
    run,
    group: group ?? null,
    instances,
    concurrency: concurrency ?? null,
    memory: memory ?? null,
    path,
    entry: new Redactor({ secrets: app.secrets ?? [], fields: [] }).text([entry.file, ...entry.args].join(' ')),
    foundBy: entry.foundBy,
    needs: [...needs],
    env: masked(env, app),
  }
}

/** Hides values that look like secrets, and those that the config reads from files of secrets. */
function masked(env: Readonly<Record<string, string>>, { secrets = [] }: App): Record<string, string> {
  const redactor = new Redactor({ secrets, fields: [] })
  return Object.fromEntries(
    Object.entries(env)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => [name, redactor.text(maskSecret(name, value))]),
  )
}

function definedOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
