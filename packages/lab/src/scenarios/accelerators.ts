import { armProgram, type Arm, type LaunchContext } from '../arm.ts'
import { busbar, exactly } from './launch.ts'
import type { Scenario } from './scenario.ts'

const all = ['exchange', 'stream', 'handover']
const leaves = [0, 1, 2, 3]
const fanout = '/ipc'

/**
 * The variants exercise different accelerators: undici and fetch use `exchange`, other clients
 * `stream`, all use `handover`.
 */
export const accelerators: Scenario = {
  name: 'accelerators',
  question: 'Four programs in one thread, called by undici.request: what does each accelerator gain?',
  baseline: 'all',
  arms: [
    arm('all', 'all accelerators', all),
    ...all.map((name) => arm(`without-${name}`, `all but ${name}`, allBut(name))),
    arm('none', 'documented APIs only', []),
  ],
  quick: { arms: ['without-exchange', 'none'] },
  connections: [100],
  workers: [1],
  request: () => calling('request'),
  variants: {
    fetch: { title: 'called by fetch', request: () => calling('fetch') },
    http: { title: 'called by node:http with a keep-alive agent', request: () => calling('http') },
    hello: {
      title: 'one program without calls',
      request: () => ({ path: '/leaf0/live', expect: exactly('{"status":"ok"}') }),
    },
  },
}

function allBut(excluded: string): string[] {
  return all.filter((name) => name !== excluded)
}

function calling(client: string): ReturnType<Scenario['request']> {
  return { path: `/${client}${fanout}`, expect: exactly('{"success":true}') }
}

function arm(name: string, title: string, chosen: readonly string[]): Arm {
  return { name, title, single: true, launch: (context) => launch(context, chosen) }
}

function launch(context: LaunchContext, chosen: readonly string[]): ReturnType<Arm['launch']> {
  const names = leaves.map((index) => `leaf${index}`)
  const origins = JSON.stringify(names.map((name) => `http://${name}.internal`))
  const callers = ['request', 'fetch', 'http'].map((way) => {
    const path = armProgram('fanout/entry.ts')
    return [way, { path, env: { WAY: way, ORIGINS: origins }, needs: names }] as const
  })
  const called = leaves.map((index) => {
    const path = armProgram('fanout/leaf.ts')
    return [`leaf${index}`, { path, env: { LEAF: String(index) } }] as const
  })
  const routed = [...callers.map(([way]) => way), 'leaf0']
  return busbar(context, '/leaf0/live', {
    workers: 1,
    accelerators: chosen,
    gateway: { routes: Object.fromEntries(routed.map((name) => [`/${name}`, name])) },
    services: Object.fromEntries([...callers, ...called]),
  })
}
