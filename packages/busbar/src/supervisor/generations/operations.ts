import { inspect } from 'node:util'
import type { App, Service } from '../../config/app.ts'
import type { Placements } from '../../config/load.ts'
import { nearest } from '../../config/nearest.ts'
import { mostInstances } from '../../config/schema/fields.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { Change, InstanceCount, MoveTarget, Relocation } from './changes.ts'
import type { StartOptions } from '../running-app.ts'
import { keepScale } from '../scaling/scalables.ts'
import type { Generations } from './generations.ts'
import { refusalOf, refuseFixed } from './placement-refusals.ts'

/** What people change in a running app. The placements that they choose override the config. */
export class Operations {
  readonly #loadApp: StartOptions['load']
  readonly #generations: Pick<Generations, 'change'>
  #placements: Placements = {}

  constructor(load: StartOptions['load'], generations: Pick<Generations, 'change'>) {
    this.#loadApp = load
    this.#generations = generations
  }

  reload(service?: string): Promise<Change> {
    return this.#generations.change(
      async (running) => {
        const next = keepScale(running, await this.#load(this.#placements))
        if (service !== undefined)
          serviceOf(next.services.some(({ name }) => name === service) ? next : running, service)
        return next
      },
      service === undefined ? 'all' : [service],
    )
  }

  async scale(service: string, count: InstanceCount): Promise<Change> {
    return await this.#place((running, before) => {
      const found = serviceOf(running, service)
      refuseFixed(found)
      const { run, instances } = found
      if (run === 'shared') return { ...before, workers: countOf(count, running.workers) }
      return placed(before, service, { run, instances: countOf(count, instances) })
    })
  }

  async move(service: string, to: MoveTarget): Promise<Change> {
    const target = targetOf(to)
    return await this.#place((running, before) => moved(running, before, service, target))
  }

  async moveTogether(moves: readonly Relocation[]): Promise<() => Promise<Change>> {
    const targets = moves.map(({ service, run }) => ({ service, target: targetOf({ run }) }))
    let former: { readonly app: App; readonly placements: Placements } | undefined
    await this.#place((app, placements) => {
      former = { app, placements }
      return targets.reduce((before, { service, target }) => moved(app, before, service, target), placements)
    })
    const names = new Set(targets.map(({ service }) => service))
    return () => {
      const { app, placements } = former!
      const counts = new Map(app.services.map(({ name, instances }) => [name, instances]))
      return this.#place(
        (_, now) => restored(now, placements, names),
        // What load has added to a service is there again.
        (running) => ({
          ...running,
          services: running.services.map((one) =>
            names.has(one.name) ? { ...one, instances: counts.get(one.name) ?? one.instances } : one,
          ),
        }),
      )
    }
  }

  /**
   * Workers that the placement does not concern stay, even if their code has changed. `scaled`: the
   * app with the numbers of instances that are kept.
   */
  async #place(
    next: (running: App, before: Placements) => Placements,
    scaled: (running: App) => App = (running) => running,
  ): Promise<Change> {
    let placements = this.#placements
    const change = await this.#generations.change(async (running) => {
      placements = next(running, this.#placements)
      return onlyPlaced(running, keepScale(scaled(running), await this.#loadPlaced(placements)))
    }, [])
    this.#placements = placements
    return change
  }

  async #loadPlaced(placements: Placements): Promise<App> {
    try {
      return await this.#load(placements)
    } catch (error) {
      throw await refusalOf(error, () => this.#load(this.#placements))
    }
  }

  async #load(placements: Placements): Promise<App> {
    if (this.#loadApp !== undefined) return await this.#loadApp(placements)
    throw new BusbarError('INTERNAL', { message: 'the app was started without a way to load its config again' })
  }
}

/**
 * `loaded` with nothing but its placements: the config may have been edited since the last load.
 */
function onlyPlaced(running: App, loaded: App): App {
  const services = running.services.map((service): Service => {
    const next = loaded.services.find(({ name }) => name === service.name)
    if (next === undefined) return service
    const { copyOf: _, asked: __, ...same } = service
    const { run, group, instances, scaling, memory, spare, copyOf, asked } = next
    const copied = copyOf === undefined ? {} : { copyOf, asked }
    return { ...same, run, group, instances, scaling, memory, spare, ...copied }
  })
  return { ...running, workers: loaded.workers, scaling: loaded.scaling, services }
}

function moved(running: App, before: Placements, service: string, { run, instances }: MoveTarget): Placements {
  const now = serviceOf(running, service)
  refuseFixed(now, run)
  const known = now.run === 'shared' ? undefined : now.instances
  if (run === 'shared') return placed(before, service, { run, instances: undefined })
  return placed(before, service, { run, instances: instances ?? known ?? 1 })
}

/** With the services at their former places. */
function restored(now: Placements, former: Placements, names: ReadonlySet<string>): Placements {
  const others = Object.entries(now.services ?? {}).filter(([name]) => !names.has(name))
  const those = Object.entries(former.services ?? {}).filter(([name]) => names.has(name))
  return { ...now, services: Object.fromEntries([...others, ...those]) }
}

function placed(
  before: Placements,
  service: string,
  placement: NonNullable<Placements['services']>[string],
): Placements {
  return { ...before, services: { ...before.services, [service]: placement } }
}

/** Callers in JavaScript may pass anything. */
function countOf(count: unknown, now: number): number {
  const isChange = typeof count === 'string' && /^[+-]\d+$/.test(count)
  const number = isChange ? now + Number(count) : count
  if (typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= mostInstances) return number
  throw new BusbarError('INPUT_INVALID', {
    message: `${inspect(count)} is not a number of instances: there may be 1 to ${mostInstances}, and there are ${now}`,
    hint: "Give a number such as 3, or how many more or fewer, such as '+1'.",
  })
}

const runs: ReadonlySet<unknown> = new Set<MoveTarget['run']>(['shared', 'thread', 'process'])

function targetOf(to: MoveTarget | null | undefined): MoveTarget {
  const problem = problemOf(to)
  if (problem === undefined) return to!
  throw new BusbarError('INPUT_INVALID', {
    message: `${inspect(to)} is not a place for a service: ${problem}`,
    hint: "Give { run: 'thread' }, with instances if there are several.",
  })
}

function problemOf(to: MoveTarget | null | undefined): string | undefined {
  if (!runs.has(to?.run)) return "run must be 'shared', 'thread' or 'process'"
  const { run, instances } = to!
  if (instances === undefined) return undefined
  if (run === 'shared') return 'there is one shared instance in each shared worker, so instances cannot be given'
  const isCount = Number.isInteger(instances) && instances >= 1 && instances <= mostInstances
  return isCount ? undefined : `instances must be an integer from 1 to ${mostInstances}`
}

function serviceOf({ services }: App, asked: unknown): Service {
  const service = services.find((one) => one.name === asked)
  if (service !== undefined) return service
  const name = String(asked)
  const names = services.map((one) => one.name)
  const near = nearest(name, names)
  throw new BusbarError('SERVICE_UNKNOWN', {
    message: `the app has no service '${name}'`,
    hint: near === undefined ? `Its services are ${names.join(', ')}.` : `The nearest name is ${near}.`,
  })
}
