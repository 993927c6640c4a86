import { armProgram, type Arm, type Requirement } from '../arm.ts'
import { busbar, exactly, program } from './launch.ts'
import type { Scenario } from './scenario.ts'

const server = armProgram('offload/server.ts')

export const offload: Scenario = {
  name: 'offload',
  question: 'Requests that compute: where, so that the others of the same service do not wait?',
  baseline: 'main',
  arms: [
    { ...arm('main', 'on the main thread'), single: true },
    { ...arm('worker', 'a new Worker for each request'), single: true, unsampled: true },
    arm('busbar', "Busbar's offload()"),
    underBusbar('busbar-service', 'a typed service of Busbar, one call at a time in each thread'),
    arm('piscina', 'Piscina', { kind: 'npm', packages: { piscina: '5.3.2' } }),
  ],
  quick: { arms: ['busbar', 'piscina'], connections: [20] },
  connections: [100],
  workers: [2],
  parameters: { fibonacci: 30 },
  request: ({ fibonacci = 0 }) => ({
    path: `/fibonacci/${fibonacci}`,
    expect: exactly(`{"fibonacci":${numberOf(fibonacci)}}`),
  }),
  // New threads answer about 30 requests per second, so slices are long, and requests get time to
  // finish.
  work: {
    timeoutMs: 60_000,
    graceMs: 6000,
    probe: { request: { path: '/hello', expect: exactly('{"hello":"world"}') }, rate: 50 },
  },
  sliceMs: 2000,
}

function arm(name: string, title: string, requires?: Requirement): Arm {
  return {
    name,
    title,
    ...(requires && { requires }),
    launch: (context) => program(context, '/hello', { file: server, env: { WAY: name, PACKAGES: context.packages } }),
  }
}

/**
 * One instance of the program, and a service with as many threads as workers that computes for it.
 */
function underBusbar(name: string, title: string): Arm {
  const computing = { path: armProgram('offload/computing'), run: 'thread', concurrency: 1 }
  return {
    name,
    title,
    launch: (context) =>
      busbar(context, '/hello', {
        workers: 1,
        gateway: { entry: 'web' },
        services: {
          web: { path: server, env: { WAY: name, PACKAGES: context.packages }, needs: ['computing'] },
          computing: { ...computing, instances: context.workers },
        },
      }),
  }
}

function numberOf(n: number): number {
  let [number, next] = [0, 1]
  for (let at = 0; at < n; at++) [number, next] = [next, number + next]
  return number
}
