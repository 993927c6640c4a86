/**
 * Load by the lab's engine, which takes little of the processors that the app needs: one half of
 * the requests on kept connections, the other half with a connection each.
 */
import { findEngine, load } from '../../packages/lab/src/engine/load.ts'
import type { LoadJob, LoadResult } from '../../packages/lab/src/engine/job.ts'

/** Of each half. */
const connections = 16

const engine = findEngine()
if (engine.kind !== 'busbar-load') throw new Error('the load engine is not built: cargo build --release')

/** What clients saw in one or several windows. */
export class Seen {
  requests = 0
  readonly failures: Record<string, number> = {}
  readonly #buckets = new Map<number, number>()

  add({ done, failures, connectFailures, unfinished, unsent, latency }: LoadResult): void {
    this.requests += done
    const all = { ...failures, 'connection failed': connectFailures, 'no answer': unfinished, 'not sent': unsent }
    for (const [what, count] of Object.entries(all))
      if (count > 0) this.failures[what] = (this.failures[what] ?? 0) + count
    for (const [edge, count] of latency.buckets) this.#buckets.set(edge, (this.#buckets.get(edge) ?? 0) + count)
  }

  /** Milliseconds: the upper edge of the bucket. */
  quantile(share: number): number {
    const buckets = [...this.#buckets].toSorted(([one], [other]) => one - other)
    let left = buckets.reduce((sum, [, count]) => sum + count, 0) * share
    return buckets.find(([, count]) => (left -= count) <= 0)?.[0] ?? Number.NaN
  }
}

/** Requests at a fixed rate, whatever the answers take. */
export async function sendFor(port: number, milliseconds: number, perSecond: number, seen: Seen): Promise<void> {
  const open = { loop: 'open', durationMs: Math.round(milliseconds), rate: perSecond / 2, arrivals: 'poisson' } as const
  for (const result of await bothHalves(port, { load: open })) seen.add(result)
}

/** Requests per second that clients get which each ask again after an answer. */
export async function capacityOf(port: number, seconds: number): Promise<number> {
  const results = await bothHalves(port, { load: { loop: 'closed', durationMs: seconds * 1000 } })
  return results.reduce((sum, { perSecond }) => sum + perSecond, 0)
}

async function bothHalves(port: number, job: Pick<LoadJob, 'load'>): Promise<LoadResult[]> {
  const common = {
    target: { address: `127.0.0.1:${port}` },
    requests: [{ path: '/', expect: { status: 200, body: 'ok' } }],
    connections,
    graceMs: 1000,
    ...job,
  }
  const halves = await Promise.all([false, true].map((reconnect) => load(engine, { ...common, reconnect })))
  return halves.map(({ result }) => result)
}
