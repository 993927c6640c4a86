import type { Service } from '../config/app.ts'

type Ordered = Pick<Service, 'name' | 'needs'>

/**
 * Starts each service as soon as those it needs have started; others side by side. `services` come in an order where
 * each stands behind those it needs. Rejects with the first failure; what waits for it is not started. `elsewhere` settles
 * when a service that is not among them, and that `by` needs, serves or is waited for no longer.
 */
export async function startInOrder<S extends Ordered, T>(
  services: readonly S[],
  start: (service: S) => Promise<T>,
  elsewhere: (service: string, by: S) => Promise<void> = async () => {},
): Promise<Map<string, T>> {
  const starting = new Map<string, Promise<T>>()
  const names = new Set(services.map(({ name }) => name))
  for (const service of services) {
    const far = Promise.all(service.needs.filter((name) => !names.has(name)).map((name) => elsewhere(name, service)))
    // It may reject while those of this worker still start.
    far.catch(() => {})
    const started = after(service.needs, starting, async () => {
      await far
      return await start(service)
    })
    starting.set(service.name, started)
  }
  const started = await Promise.all(services.map(async ({ name }) => [name, await starting.get(name)!] as const))
  return new Map(started)
}

/** Stops each service when those that need it have stopped, here and `elsewhere`. */
export async function stopInOrder<S extends Ordered>(
  services: readonly S[],
  stop: (service: S) => Promise<void>,
  elsewhere: (service: S) => Promise<void> = async () => {},
): Promise<void> {
  const stopping = new Map<string, Promise<void>>()
  for (const service of services.toReversed()) {
    const neededBy = services.filter(({ needs }) => needs.includes(service.name)).map(({ name }) => name)
    stopping.set(
      service.name,
      after(neededBy, stopping, async () => {
        await elsewhere(service)
        await stop(service)
      }),
    )
  }
  await Promise.all(stopping.values())
}

/** How many steps one after the other a stop takes from `service` on: 1 where it needs nobody. */
export function stepsFrom(service: Ordered, services: readonly Ordered[]): number {
  const needed = services.filter(({ name }) => service.needs.includes(name))
  return 1 + Math.max(0, ...needed.map((one) => stepsFrom(one, services)))
}

async function after<T>(
  names: readonly string[],
  done: ReadonlyMap<string, Promise<unknown>>,
  run: () => Promise<T>,
): Promise<T> {
  await Promise.all(names.map(async (name) => await done.get(name)))
  return await run()
}
