import { realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Service } from '../app.ts'
import type { Hazard } from './hazard.ts'
import type { Program } from './program.ts'

/** Packages that register metrics in the default registry of prom-client. */
const users = ['prom-client', 'fastify-metrics', 'express-prom-bundle', '@willsoto/nestjs-prometheus'] as const

/** prom-client has one default registry per installed copy and thread. */
export async function findMetricsHazards(programs: readonly Program[]): Promise<Hazard[]> {
  const using: { service: Service; copy: string }[] = []
  for (const program of programs) {
    const copy = await findCopy(program)
    if (copy !== undefined) using.push({ service: program.service, copy })
  }
  const together = [...Map.groupBy(using, ({ service, copy }) => `${threadOf(service)} ${copy}`).values()]
  const split = Map.groupBy(
    using.filter(({ service }) => service.instances > 1),
    ({ service }) => service.instances,
  )
  const names = (some: typeof using): string[] => some.map(({ service }) => service.name)
  return [
    ...together.filter((some) => some.length > 1).map((some) => shared(names(some))),
    ...[...split].map(([instances, some]) => perInstance(names(some), instances)),
  ]
}

/** Equal for services that share their threads. */
function threadOf({ name, run, group }: Service): string {
  return run === 'shared' ? run : group === undefined ? `service:${name}` : `group:${group}`
}

function shared(services: readonly string[]): Hazard {
  return {
    code: 'METRICS_SHARED',
    services,
    message: `${services.join(', ')} share the default registry of prom-client: the second service that registers a name throws, and each exposes the metrics of all`,
    hint: 'Use a `new Registry()` in each service, and collectDefaultMetrics({ register }).',
  }
}

function perInstance(services: readonly string[], instances: number): Hazard {
  return {
    code: 'METRICS_PER_WORKER',
    services,
    message: `${services.join(', ')} use prom-client, and each of the ${instances} instances has its own metrics: a scrape of the program reaches only one of them`,
    hint: 'Scrape the admin port of Busbar, which has those of all. Or run one instance.',
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
