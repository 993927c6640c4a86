import type { Service } from '../../config/app.ts'

type Ordered = Pick<Service, 'name' | 'needs'>

/**
 * Starts each service as soon as the services it needs have started, independent ones concurrently.
 * `services` are sorted: each comes after those it needs. `waitForOther` is called for a needed
 * service that is not in the list, and settles when it serves or the wait has ended. Rejects with
 * the first failure; services that depend on it are not started.
 */
export async function startInOrder<S extends Ordered, T>(
  services: readonly S[],
  start: (service: S) => Promise<T>,
  waitForOther: (service: string, by: S) => Promise<void> = async () => {},
): Promise<Map<string, T>> {
  const starting = new Map<string, Promise<T>>()
  const names = new Set(services.map(({ name }) => name))
  for (const service of services) {
    const others = Promise.all(
      service.needs.filter((name) => !names.has(name)).map((name) => waitForOther(name, service)),
    )
    // It may reject before `after` awaits it.
    others.catch(() => {})
    const started = after(service.needs, starting, async () => {
      await others
      return await start(service)
    })
    starting.set(service.name, started)
  }
  const started = await Promise.all(services.map(async ({ name }) => [name, await starting.get(name)!] as const))
  return new Map(started)
}

/**
 * Stops each service after those that need it. `waitForOthers` waits for those outside the list.
 */
export async function stopInOrder<S extends Ordered>(
  services: readonly S[],
  stop: (service: S) => Promise<void>,
  waitForOthers: (service: S) => Promise<void> = async () => {},
): Promise<void> {
  const stopping = new Map<string, Promise<void>>()
  for (const service of services.toReversed()) {
    const neededBy = services.filter(({ needs }) => needs.includes(service.name)).map(({ name }) => name)
    stopping.set(
      service.name,
      after(neededBy, stopping, async () => {
        await waitForOthers(service)
        await stop(service)
      }),
    )
  }
  await Promise.all(stopping.values())
}

/**
 * The number of services in the longest chain of `needs` that starts at `service`, itself included.
 * They stop one after the other.
 */
export function stopDepth(service: Ordered, services: readonly Ordered[]): number {
  const needed = services.filter(({ name }) => service.needs.includes(name))
  return 1 + Math.max(0, ...needed.map((one) => stopDepth(one, services)))
}

async function after<T>(
  names: readonly string[],
  done: ReadonlyMap<string, Promise<unknown>>,
  run: () => Promise<T>,
): Promise<T> {
  await Promise.all(names.map(async (name) => await done.get(name)))
  return await run()
}
