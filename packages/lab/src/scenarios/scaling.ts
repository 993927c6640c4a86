import { armProgram, node, type Arm, type Launch, type Place } from '../arm.ts'
import type { Scenario } from './scenario.ts'

const hello = armProgram('scaling/hello.ts')

export const scaling: Scenario = {
  name: 'scaling',
  question: 'One plain service over several workers: who should share out the connections?',
  baseline: 'reuseport',
  arms: [
    arm('reuseport', 'threads that listen with reusePort', (place) => run(place, [armProgram('scaling/threads.ts')])),
    arm('node', 'plain node:http, one process', (place) => run(place, [hello])),
    arm('cluster', 'node:cluster', (place) => run(place, [armProgram('scaling/cluster.ts')])),
    arm('processes', 'processes that listen with reusePort', (place) =>
      run(place, [armProgram('processes.ts')], {
        REUSE_PORT: '1',
        PROGRAMS: JSON.stringify(Array.from({ length: place.workers }, () => ({ file: hello, env: {} }))),
      }),
    ),
    arm('busbar', 'Busbar', (place) => busbar(place, 'balanced')),
    arm('busbar-reuseport', "Busbar, accept: 'reusePort'", (place) => busbar(place, 'reusePort')),
  ],
  quick: { arms: ['reuseport', 'cluster', 'busbar'] },
  connections: [100],
  workers: [2],
  request: () => ({ path: '/', expect: { body: '{"hello":"world"}' } }),
}

function arm(name: string, title: string, launch: (place: Place) => Launch): Arm {
  return { name, title, launch }
}

function run(place: Place, [file, ...args]: [string, ...string[]], env: Record<string, string> = {}): Launch {
  return {
    command: [node, file, ...args],
    env: { PORT: String(place.port), WORKERS: String(place.workers), ...env },
    target: { address: `127.0.0.1:${place.port}`, path: '/' },
  }
}

function busbar(place: Place, accept: 'balanced' | 'reusePort'): Launch {
  const app = {
    workers: place.workers,
    accept,
    gateway: { host: '127.0.0.1', port: place.port, entry: 'hello' },
    defaults: { run: 'shared' },
    services: { hello: { path: hello } },
  }
  return run(place, [armProgram('busbar/start.ts')], { APP: JSON.stringify(app), APP_FOLDER: place.folder })
}
