/**
 * What a full collection does to `process.nextTick`, and what keeping a tick does about it (docs/decisions/ticks.md):
 * `node --expose-gc bench/ticks.ts`. Prints nanoseconds per tick, each way in a thread of its own, the best of the rounds.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

interface Way {
  readonly title: string
  readonly keeps: boolean
  readonly collects: boolean
}

const ways: readonly Way[] = [
  { title: 'as Node is', keeps: false, collects: false },
  { title: 'after a collection', keeps: false, collects: true },
  { title: 'after a collection, one tick kept', keeps: true, collects: true },
]
const ticks = 200_000
const rounds = 6

if (isMainThread) for (const way of ways) console.log(way.title.padEnd(36), await inThread(way), 'ns')
else parentPort!.postMessage(await measure(workerData as Way))

async function inThread(way: Way): Promise<string> {
  const [nanoseconds] = (await once(new Worker(new URL(import.meta.url), { workerData: way }), 'message')) as [number]
  return nanoseconds.toFixed(0).padStart(4)
}

async function measure({ keeps, collects }: Way): Promise<number> {
  if (keeps) await import('../src/worker/tick-shape.ts')
  // Enough for V8 to have seen what ticks look like, too few for it to compile anything.
  await tick(300)
  if (collects) {
    if (globalThis.gc === undefined) throw new Error('run it by node --expose-gc')
    await sleep(20)
    globalThis.gc()
    globalThis.gc()
  }
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const began = process.hrtime.bigint()
    await tick(ticks)
    times.push(Number(process.hrtime.bigint() - began) / ticks)
  }
  return Math.min(...times)
}

/** One after the other, so many. */
async function tick(count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = count
  const next = (): void => {
    if (--left === 0) resolve()
    else process.nextTick(next)
  }
  process.nextTick(next)
  await promise
}
