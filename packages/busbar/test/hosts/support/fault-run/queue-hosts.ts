/** Hosts of a cluster that enqueue items and run them, without supervisor and workers. */
import { StreamQueue } from '../../../../src/queue/streams/stream-queue.ts'
import type { ClusterConfig } from '../../../../src/shared/hosts.ts'

/** Milliseconds that an item takes. */
const work = 5
const usual = { attempts: 1_000, backoff: 10, maxBackoff: 100, timeout: 5_000, concurrency: 16 }
const limits = { window: 600_000, maxDepth: 100_000, maxSize: 64 * 1024 ** 2, keepDead: 100 }
const target = 'shop.later'

export class QueueHosts implements AsyncDisposable {
  readonly #configs: readonly ClusterConfig[]
  readonly #queues: StreamQueue[]
  readonly #ran = new Set<string>()
  readonly #accepted = new Set<string>()

  constructor(configs: readonly ClusterConfig[]) {
    this.#configs = configs
    this.#queues = configs.map((config) => this.#start(config))
  }

  /** At a host. Rejects if it may not be kept. */
  async enqueue(id: string, host: number): Promise<void> {
    const now = Date.now()
    const item = { target, id, until: now + limits.window, due: now, added: now, input: undefined, origin: {} }
    await this.#queues[host % this.#queues.length]!.add(item)
    this.#accepted.add(id)
  }

  /** Items that were accepted, and have not run. */
  get missing(): readonly string[] {
    return [...this.#accepted].filter((id) => !this.#ran.has(id))
  }

  get accepted(): number {
    return this.#accepted.size
  }

  /** Ends a host without waiting for what it runs, and starts another one. */
  async restart(host: number): Promise<void> {
    const at = host % this.#queues.length
    await this.#queues[at]!.close(0)
    this.#queues[at] = this.#start(this.#configs[at]!)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const queue of this.#queues) await queue.close(0)
  }

  #start(cluster: ClusterConfig): StreamQueue {
    const place = { is: 'streams', cluster, services: ['shop'], left: '' } as const
    return new StreamQueue({
      place,
      settings: { place, ...limits, usual, methods: {} },
      calls: {
        call: async ({ delivery }) => {
          await new Promise((resolve) => setTimeout(resolve, work))
          this.#ran.add(delivery.id)
        },
        isKnown: () => true,
        serves: () => true,
        fitOf: () => 'same',
        versions: () => [],
      },
      log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
      cells: () => undefined,
    })
  }
}
