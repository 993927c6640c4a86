import { armProgram, type Arm, type Launch, type LaunchContext } from '../arm.ts'
import { hostArms } from './fanout-hosts.ts'
import { entry, leaf, leaves, origins, path, programs, typedEntry, typedServices } from './fanout-services.ts'
import { busbar, exactly, program, processGroup, watt, wattPackages } from './launch.ts'
import type { Scenario } from './scenario.ts'

/** Of one request of the work `calls`. */
const calls = 64
const succeeds = exactly('{"success":true}')

export const fanout: Scenario = {
  name: 'fanout',
  question: 'A request that calls four other services: how should they be reached?',
  baseline: 'tcp-16',
  arms: [
    processes('tcp-16', 'processes, TCP, pools of 16', { way: 'pool', connections: 16 }),
    processes('tcp', 'processes, TCP, default pools', { way: 'pool', connections: 0 }),
    processes('tls', 'processes, TLS, default pools', { way: 'pool', connections: 0, tls: true }),
    processes('unix', 'processes, Unix sockets, pools of 16', { way: 'pool', connections: 16, unix: true }),
    oneThread('inject', 'one thread, light-my-request'),
    oneThread('direct', 'one thread, direct function calls'),
    underBusbar('busbar-request', 'Busbar, one thread, undici.request', 'request', 'shared'),
    underBusbar('busbar-fetch', 'Busbar, one thread, fetch', 'fetch', 'shared'),
    underBusbar('busbar-threads-request', 'Busbar, a thread each, undici.request', 'request', 'thread'),
    underBusbar('busbar-threads-fetch', 'Busbar, a thread each, fetch', 'fetch', 'thread'),
    underBusbar('busbar-processes', 'Busbar, a process each, undici.request', 'request', 'process'),
    typedUnderBusbar('busbar-typed', 'Busbar, one thread, typed calls', 'shared'),
    typedUnderBusbar('busbar-typed-threads', 'Busbar, a thread each, typed calls', 'thread'),
    underWatt('watt-request', 'Watt, a thread each, undici.request', 'request'),
    underWatt('watt-fetch', 'Watt, a thread each, fetch', 'fetch'),
    ...hostArms,
  ],
  quick: { arms: ['tcp-16', 'busbar-request', 'busbar-fetch', 'busbar-threads-request'] },
  connections: [100],
  workers: [1],
  request: () => ({ path, expect: succeeds }),
  variants: {
    published: {
      title: '100 connections with 10 pipelined requests each, as usually published (-c 100 -p 10 -d 10)',
      connections: [100],
      // With a thousand requests in flight an answer over TLS takes seconds, which is not a fault.
      work: { pipelining: 10, timeoutMs: 60_000 },
      sliceMs: 10_000,
      // Ten seconds in five rounds. Long slices, since some of a thousand requests in flight wait
      // for a second.
      quickSliceMs: 2000,
    },
    calls: {
      title: `one request at a time, which calls one of the services ${calls} times at once`,
      request: () => ({ path: `/calls?count=${calls}`, expect: succeeds }),
      work: { calls },
      connections: [1],
    },
  },
}

interface ProcessesOptions {
  way: string
  connections: number
  tls?: boolean
  unix?: boolean
}

/** Five processes: the caller and four callees. */
function processes(name: string, title: string, options: ProcessesOptions): Arm {
  return {
    name,
    title,
    launch(context) {
      const at = (index: number) =>
        options.unix ? `${context.folder}/${index}.sock` : String(context.port + 1 + index)
      const origin = (index: number) =>
        options.unix ? `unix:${at(index)}` : `${options.tls ? 'https' : 'http'}://127.0.0.1:${at(index)}`
      const { cert, key } = context.certificate
      const tls: Record<string, string> = options.tls ? { TLS_CERT: cert, TLS_KEY: key } : {}
      return processGroup(context, path, [
        ...leaves.map((index) => ({ file: leaf, env: { LEAF: String(index), PORT: at(index), ...tls } })),
        {
          file: entry,
          env: {
            ORIGINS: JSON.stringify(leaves.map(origin)),
            WAY: options.way,
            CONNECTIONS: String(options.connections),
            ...tls,
          },
        },
      ])
    },
  }
}

function oneThread(mode: string, title: string): Arm {
  const file = armProgram('fanout/one-thread.ts')
  return { name: mode, title, launch: (context) => program(context, path, { file, env: { MODE: mode } }) }
}

type Run = 'shared' | 'thread' | 'process'

/** The same five programs as services of one app. */
function underBusbar(name: string, title: string, way: string, run: Run): Arm {
  const services = { entry: { path: entry, env: { WAY: way, ORIGINS: origins('internal') } }, ...programs }
  return { name, title, launch: (context) => busbarApp(context, run, 'entry', services) }
}

/** A program that calls four typed services. */
function typedUnderBusbar(name: string, title: string, run: Run): Arm {
  const services = { web: typedEntry, ...typedServices }
  return { name, title, launch: (context) => busbarApp(context, run, 'web', services) }
}

/**
 * All services have the same `run`. Unless shared, the entry needs as many instances as there are
 * workers.
 */
function busbarApp(
  context: LaunchContext,
  run: Run,
  entry: string,
  services: Readonly<Record<string, object>>,
): Launch {
  const instances = run === 'shared' ? {} : { instances: context.workers }
  return busbar(context, path, {
    gateway: { entry },
    defaults: { run },
    services: { ...services, [entry]: { ...services[entry], ...instances } },
  })
}

function underWatt(name: string, title: string, way: string): Arm {
  const services = {
    entry: { file: entry, env: { WAY: way, ORIGINS: origins('plt.local') } },
    ...Object.fromEntries(leaves.map((index) => [`leaf${index}`, { file: leaf, env: { LEAF: String(index) } }])),
  }
  const requires = { kind: 'npm', packages: wattPackages } as const
  return { name, title, requires, onlyWhenAsked: true, launch: (context) => watt(context, path, services) }
}
