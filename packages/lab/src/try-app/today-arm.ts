import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Arm, LaunchContext } from '../arm.ts'
import { node, portsPerArm, usualStopTime } from '../arm.ts'
import type { TriedService, TriedApp } from './tried-app.ts'

/** The services as they run today: processes and ports of their own. */
export function todayArm({ today, entry }: TriedApp, path: string): Arm {
  return {
    name: 'today',
    title: today.length === 1 ? 'as today' : `as today, ${today.length} processes`,
    single: true,
    unsampled: true,
    stopTime: usualStopTime,
    fixedPorts: today.flatMap(({ port }) => port ?? []),
    translate: (request) => request,
    launch: (context) => {
      const ports = portsOf(today, context.port)
      return {
        command: ['/bin/sh', '-c', scriptOf(today, ports)],
        env: ownEnvironment(context),
        target: { address: `127.0.0.1:${ports.get(entry)!}`, path },
        ready: { status: 'any', ports: [...ports.values()] },
      }
    },
  }
}

/** Services without a port get free ones. */
export function portsOf(today: readonly TriedService[], first: number): ReadonlyMap<string, number> {
  let next = first
  const ports = new Map(today.map(({ name, port }) => [name, port ?? next++]))
  if (next > first + portsPerArm) throw new Error(`more than ${portsPerArm} services have no port of their own`)
  return ports
}

/** Programs may need any variable of the user, but no folder that outlives the measurement. */
export function ownEnvironment({ folder }: Pick<LaunchContext, 'folder'>): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && !/^(?:npm_|NODE_OPTIONS$|BUSBAR_|PORT$|HOST$|TMPDIR$|PWD$)/.test(name),
  ) as [string, string][]
  return { NODE_ENV: 'production', ...Object.fromEntries(kept), TMPDIR: folder }
}

const awaitPorts = fileURLToPath(new URL(`./await-ports${extname(import.meta.url)}`, import.meta.url))

/**
 * A service starts when those that it needs listen: who runs them today starts them in order, or
 * again. The shell becomes the last process, so that its own memory does not count.
 */
function scriptOf(today: readonly TriedService[], ports: ReadonlyMap<string, number>): string {
  const lines = today.map(({ name, command, cwd, env, port, needs }) => {
    const own = `${ports.get(name)!}`
    const variables = { ...(port === undefined && { PORT: own }), ...env }
    const settings = Object.entries(variables).map(([key, value]) => `${key}=${value}`)
    const words = command.map((word) => word.replaceAll('$PORT', own))
    const start = `cd ${quoted(cwd)} && exec env ${[...settings, ...words].map(quoted).join(' ')}`
    const needed = needs.flatMap((one) => ports.get(one) ?? [])
    return needed.length === 0 ? start : `${[node, awaitPorts].map(quoted).join(' ')} ${needed.join(' ')} && ${start}`
  })
  const others = lines.slice(0, -1).map((line) => `(${line}) &\n`)
  return `${others.join('')}${lines.at(-1)!}`
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
