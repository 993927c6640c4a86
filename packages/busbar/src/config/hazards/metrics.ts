import { realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { App } from '../app.ts'
import type { Hazard } from '../hazards.ts'
import type { Program } from './program.ts'

/** Packages that register their metrics in the default registry of the prom-client that they find. */
const users = ['prom-client', 'fastify-metrics', 'express-prom-bundle', '@willsoto/nestjs-prometheus'] as const

/** The default registry of prom-client is one per copy of the module, so per thread. */
export async function findMetricsHazards(programs: readonly Program[], { workers }: App): Promise<Hazard[]> {
  const copies = new Map<string, string[]>()
  for (const program of programs) {
    const copy = await findCopy(program)
    if (copy !== undefined) copies.set(copy, [...(copies.get(copy) ?? []), program.service.name])
  }
  const groups = [...copies.values()]
  const split = workers > 1 ? groups.flat() : []
  return [
    ...groups.filter((services) => services.length > 1).map(shared),
    ...(split.length > 0 ? [perWorker(split, workers)] : []),
  ]
}

function shared(services: readonly string[]): Hazard {
  return {
    code: 'METRICS_SHARED',
    services,
    message: `${services.join(', ')} use the same prom-client, whose default registry they share: the second to register a name throws, and each shows the others' metrics`,
    hint: 'Give each service a `new Registry()` of its own, and collectDefaultMetrics({ register }).',
  }
}

function perWorker(services: readonly string[], workers: number): Hazard {
  return {
    code: 'METRICS_PER_WORKER',
    services,
    message: `${services.join(', ')} use prom-client, and each of the ${workers} workers counts by itself: a scrape sees the one it reaches`,
    hint: 'Run one worker, or let the metrics carry the number of the worker.',
  }
}

async function findCopy(program: Program): Promise<string | undefined> {
  const used = users.find((name) => isUsed(program, name))
  if (used === undefined) return undefined
  try {
    const module = createRequire(program.service.entry.file).resolve(used)
    return await realpath(used === 'prom-client' ? module : createRequire(module).resolve('prom-client'))
  } catch {
    return undefined
  }
}

function isUsed({ dependencies, sources }: Program, name: string): boolean {
  return (
    dependencies.includes(name) || sources.some(({ text }) => text.includes(`'${name}'`) || text.includes(`"${name}"`))
  )
}
