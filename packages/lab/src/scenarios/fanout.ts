import { armProgram, node, type Arm, type Launch, type Place } from '../arm.ts'
import type { Scenario } from './scenario.ts'

const leaves = [0, 1, 2, 3]
const leaf = armProgram('fanout/leaf.ts')
const entry = armProgram('fanout/entry.ts')

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
    busbar('busbar-request', 'Busbar, one thread, undici.request', 'request'),
    busbar('busbar-fetch', 'Busbar, one thread, fetch', 'fetch'),
  ],
  quick: { arms: ['tcp-16', 'busbar-request', 'busbar-fetch'] },
  connections: [100],
  workers: [1],
  request: () => ({ path: '/ipc', expect: { body: '{"success":true}' } }),
}

function launch(place: Place, program: string, env: Record<string, string>): Launch {
  return {
    command: [node, program],
    env: { PORT: String(place.port), ...env },
    target: { address: `127.0.0.1:${place.port}`, path: '/ipc' },
  }
}

interface ProcessesOptions {
  way: string
  connections: number
  tls?: boolean
  unix?: boolean
}

/** Five processes: the four that are called, and the one that calls. */
function processes(name: string, title: string, options: ProcessesOptions): Arm {
  return {
    name,
    title,
    launch(place) {
      const at = (index: number) => (options.unix ? `${place.folder}/${index}.sock` : String(place.port + 1 + index))
      const origin = (index: number) =>
        options.unix ? `unix:${at(index)}` : `${options.tls ? 'https' : 'http'}://127.0.0.1:${at(index)}`
      const programs = [
        ...leaves.map((index) => ({ file: leaf, env: { LEAF: String(index), PORT: at(index) } })),
        { file: entry, env: { PORT: String(place.port) } },
      ]
      return launch(place, armProgram('processes.ts'), {
        PROGRAMS: JSON.stringify(programs),
        ORIGINS: JSON.stringify(leaves.map(origin)),
        WAY: options.way,
        CONNECTIONS: String(options.connections),
        ...(options.tls && { TLS_CERT: place.certificate.cert, TLS_KEY: place.certificate.key }),
      })
    },
  }
}

function oneThread(mode: string, title: string): Arm {
  return { name: mode, title, launch: (place) => launch(place, armProgram('fanout/one-thread.ts'), { MODE: mode }) }
}

/** The same five programs, as services of one app. */
function busbar(name: string, title: string, way: string): Arm {
  const service = (index: number) => [`leaf${index}`, { path: leaf, env: { LEAF: String(index) } }] as const
  const origins = JSON.stringify(leaves.map((index) => `http://leaf${index}.internal`))
  return {
    name,
    title,
    launch(place) {
      const app = {
        workers: place.workers,
        gateway: { host: '127.0.0.1', port: place.port, entry: 'entry' },
        defaults: { run: 'shared' },
        services: {
          entry: { path: entry, env: { WAY: way, ORIGINS: origins } },
          ...Object.fromEntries(leaves.map(service)),
        },
      }
      return launch(place, armProgram('busbar/start.ts'), { APP: JSON.stringify(app), APP_FOLDER: place.folder })
    },
  }
}
