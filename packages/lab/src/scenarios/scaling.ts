import { availableParallelism } from 'node:os'
import { armProgram, type Arm, type Launch, type LaunchContext, type Requirement } from '../arm.ts'
import { busbar, exactly, program, processGroup, watt, wattPackages, type Program } from './launch.ts'
import type { Scenario } from './scenario.ts'

const hello: Program = { file: armProgram('scaling/hello.ts') }
const body = '{"hello":"world"}'

export const scaling: Scenario = {
  name: 'scaling',
  question: 'One plain service on several workers: what should distribute the connections?',
  baseline: 'reuseport',
  arms: [
    arm('reuseport', 'threads that listen with reusePort', run(armProgram('scaling/threads.ts'))),
    { ...arm('node', 'plain node:http, one process', run(hello.file)), single: true },
    arm('cluster', 'node:cluster', run(armProgram('scaling/cluster.ts'))),
    arm('processes', 'processes that listen with reusePort', processes),
    arm('busbar', 'Busbar', underBusbar({})),
    arm('busbar-reuseport', "Busbar, accept: 'reusePort'", underBusbar({ accept: 'reusePort' })),
    {
      ...arm('busbar-native', 'Busbar, the native entrance', underBusbar({ entrance: 'native' })),
      onlyWhenAsked: true,
    },
    peer('pm2', 'PM2, cluster mode', { pm2: '7.0.4' }, run(armProgram('scaling/pm2.ts'))),
    peer('watt', 'Watt', wattPackages, (context) => watt(context, '/', { hello })),
  ],
  quick: { arms: ['reuseport', 'cluster', 'busbar'], workers: [2] },
  connections: [100],
  workers: [...new Set([1, 2, availableParallelism()])],
  request: () => ({ path: '/', expect: exactly(body) }),
  variants: {
    cpu: { title: 'about 4 ms of CPU per request', request: cpu(4), sliceMs: 2400 },
    'cpu-1': { title: 'about 1 ms of CPU per request', request: cpu(1), sliceMs: 2400 },
    connect: { title: 'a new connection for each request', work: { reconnect: true } },
  },
}

function arm(name: string, title: string, launch: (context: LaunchContext) => Launch): Arm {
  return { name, title, launch }
}

function peer(
  name: string,
  title: string,
  packages: Extract<Requirement, { kind: 'npm' }>['packages'],
  launch: (context: LaunchContext) => Launch,
): Arm {
  return { name, title, launch, requires: { kind: 'npm', packages }, onlyWhenAsked: true }
}

function run(file: string): (context: LaunchContext) => Launch {
  return (context) => program(context, '/', { file, env: { PACKAGES: context.packages, APP_FOLDER: context.folder } })
}

function processes(context: LaunchContext): Launch {
  const one = { ...hello, env: { REUSE_PORT: '1' } }
  return processGroup(
    context,
    '/',
    Array.from({ length: context.workers }, () => one),
  )
}

interface How {
  readonly accept?: 'reusePort'
  readonly entrance?: 'native'
}

function underBusbar({ accept, entrance }: How): (context: LaunchContext) => Launch {
  return (context) =>
    busbar(context, '/', {
      ...(accept && { accept }),
      gateway: { entry: 'hello', ...(entrance && { entrance }) },
      services: { hello: { path: hello.file } },
    })
}

/** Milliseconds of CPU. */
function cpu(milliseconds: number): () => ReturnType<Scenario['request']> {
  return () => ({ path: `/cpu?ms=${milliseconds}`, expect: exactly(body) })
}
