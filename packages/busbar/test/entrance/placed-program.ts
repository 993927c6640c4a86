/** A program in every placement, each at a route of its own, behind either entrance. */
import { appOf, TestApp } from '../support/app/test-app.ts'

/** The services, which have the names of their placements. */
export const placements = ['shared', 'thread', 'process', 'command'] as const

/** `program`: a file in `programs`, without its extension. */
export async function startPlaced(
  program: string,
  entrance: 'native' | 'portable',
  env: Readonly<Record<string, string>> = {},
): Promise<TestApp> {
  const file = `${import.meta.dirname}/programs/${program}.mjs`
  const entry = { file: process.execPath, args: [file], nodeOptions: [], foundBy: 'command' } as const
  // Four of them start at once, also on a machine that is busy.
  const start = { env, startTimeout: 60_000 }
  const services = {
    shared: { file, ...start, run: 'shared' as const },
    thread: { file, ...start, run: 'thread' as const },
    process: { file, ...start, run: 'process' as const },
    command: { file, ...start, kind: 'command' as const, run: 'process' as const, entry },
  }
  const routes = placements.map((service) => ({ host: undefined, prefix: `/${service}`, service }))
  const app = appOf({ services, gateway: { entrance, routes } })
  // No test waits for it.
  return await TestApp.startLoaded({ ...app, limits: { ...app.limits, keepAliveTimeout: 600_000 } })
}
