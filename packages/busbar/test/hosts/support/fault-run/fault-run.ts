import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { settlesWithin } from '../../../../src/shared/time/settles-within.ts'
import type { SeededRandom } from '../../../support/seeded-random.ts'
import { fair } from '../fault-proxy.ts'
import { History } from './history.ts'
import type { World } from './worlds.ts'

export interface FaultRunOptions {
  readonly world: World
  readonly random: SeededRandom
  readonly seconds: number
  readonly say?: (line: string) => void
}

export interface FaultRunResult {
  readonly history: History
  /** What was done, by the number of times. */
  readonly deeds: Readonly<Record<string, number>>
  /** What is wrong. */
  readonly faults: readonly string[]
  /** Bytes that the heap has grown by. */
  readonly growth: number
}

/** Calls in flight. */
const callers = 24
/** Hosts that enqueue, one item after the other. */
const queueHosts = [0, 1, 2]
/** Milliseconds of the deadline of a call, and after which it counts as hung. */
const deadline = 5_000
const hung = 10_000
/** Milliseconds until all is well again after the last fault. */
const recovery = 60_000
/** Bytes. Histories and records of the hosts grow, too. */
const mostGrowth = 150 * 1024 ** 2

/** Random calls under random faults, then a time without them, then the check of the history. */
export async function faultRun({ world, random, seconds, say }: FaultRunOptions): Promise<FaultRunResult> {
  const history = new History()
  const deeds: Record<string, number> = {}
  const before = usedHeap()
  let isOver = false
  const load = Promise.all(
    Array.from({ length: callers }, async () => {
      while (!isOver) await call(world, random, history)
    }),
  )
  const enqueuing = Promise.all(
    queueHosts.map(async (host) => {
      for (let at = 0; world.queue !== undefined && !isOver; at++)
        // What may not be kept is enqueued again by its owner, or given up.
        await world.queue.enqueue(`item-${host}-${at}`, host).catch(() => sleep(5))
    }),
  )
  const end = performance.now() + seconds * 1_000
  while (performance.now() < end) {
    await sleep(random.below(400))
    const name = random.of(Object.keys(deedsOf(world)))
    deeds[name] = (deeds[name] ?? 0) + 1
    say?.(name)
    await deedsOf(world)[name]!(random)
  }
  for (const proxy of world.proxies) {
    proxy.weather = fair
    proxy.thaw()
  }
  isOver = true
  await load
  await enqueuing
  const faults = history.faults(executionsOf(world), hung)
  faults.push(...(await checkRecovery(world)))
  faults.push(...(await checkQueue(world)))
  const growth = usedHeap() - before
  if (growth > mostGrowth) faults.push(`the heap has grown by ${growth} bytes`)
  return { history, deeds, faults, growth }
}

/** Bytes, after a full collection. */
function usedHeap(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

type Deed = (random: SeededRandom) => Promise<void> | void

function deedsOf(world: World): Record<string, Deed> {
  const { restartServer } = world
  const proxyOf = (random: SeededRandom): World['proxies'][number] => random.of(world.proxies)
  const during = async (duration: number, begin: () => void, stop: () => void): Promise<void> => {
    begin()
    await sleep(duration)
    stop()
  }
  const weather = (change: object): Deed => {
    return async (random) => {
      const proxy = proxyOf(random)
      await during(
        random.below(800),
        () => (proxy.weather = { ...fair, ...change }),
        () => (proxy.weather = fair),
      )
    }
  }
  return {
    cut: (random) => proxyOf(random).cut(),
    'half-open': (random) => proxyOf(random).halfOpen(),
    freeze: async (random) => {
      const proxy = proxyOf(random)
      await during(random.below(1_500), proxy.freeze.bind(proxy), proxy.thaw.bind(proxy))
    },
    delay: weather({ delay: 60 }),
    throttle: weather({ rate: 20_000 }),
    'kill a host': async (random) => await world.restart(random.below(3), random.below(500)),
    slow: (random) => {
      for (const shop of world.shops) shop.delay = random.below(30)
    },
    ...(restartServer && { 'restart the server': async (random) => await restartServer(random.below(500)) }),
  }
}

async function call({ shop }: World, random: SeededRandom, history: History): Promise<void> {
  const method = random.of(['read', 'write', 'write', 'ticks'] as const)
  const operation = history.begin(method)
  const values: number[] = []
  try {
    if (method === 'ticks') {
      const wanted = 1 + random.below(40)
      for await (const value of shop.ticks(wanted, { timeout: deadline })) values.push(value)
      history.end(operation, { is: 'streamed', values, wanted })
    } else {
      const answer = (await shop[method](operation.id, { timeout: deadline })) as { at: string; input: unknown }
      history.end(operation, { is: 'answered', ...answer })
    }
  } catch (error) {
    history.end(operation, { is: 'failed', code: (error as { code?: string }).code ?? String(error), values })
    // A caller that is refused at once must not spin.
    await sleep(5)
  }
}

/** Afterwards every host answers, and none still runs a call. */
async function checkRecovery(world: World): Promise<string[]> {
  for (const shop of world.shops) shop.delay = 0
  const isLinked = await settlesWithin(recovery, [world.recovered()])
  if (!isLinked) return ['not every host is linked again']
  const names = new Set<string>()
  const end = performance.now() + recovery
  while (names.size < 3 && performance.now() < end)
    names.add(((await world.shop.read('afterwards').catch(() => ({ at: '' }))) as { at: string }).at)
  names.delete('')
  return names.size < 3 ? [`only ${[...names].join(', ')} answers afterwards`] : []
}

/** What was accepted runs. */
async function checkQueue({ queue }: World): Promise<string[]> {
  if (queue === undefined) return []
  const end = performance.now() + recovery
  while (queue.missing.length > 0 && performance.now() < end) await sleep(20)
  if (queue.accepted === 0) return ['no item was enqueued']
  return queue.missing.slice(0, 5).map((id) => `${id} was enqueued, and has never run`)
}

function executionsOf({ shops }: World): { id: unknown; host: string }[] {
  return shops.flatMap(({ name, done }) => done.map((id) => ({ id, host: name })))
}

function sleep(duration: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, duration))
}
