import type { Generations } from '../generations/generations.ts'
import { RestartPolicy } from '../restart-policy.ts'
import type { Timing } from '../timing.ts'
import { workerLabel } from '../plan.ts'
import type { WorkerSlot } from '../workers/worker-slot.ts'

export interface RenewalsParts {
  readonly timing: Timing
  readonly generations: Pick<Generations, 'change'>
  readonly log: (level: 'info' | 'warn', line: string) => void
}

/**
 * Replaces workers that serve but should not go on: one after the other, and none in a tight loop.
 */
export class Renewals {
  readonly #parts: RenewalsParts
  readonly #pending = new Set<WorkerSlot>()
  readonly #policies = new WeakMap<WorkerSlot, RestartPolicy>()
  /** When a slot was last renewed, and may be again; of `performance.now()`. */
  readonly #renewed = new WeakMap<WorkerSlot, { readonly at: number; readonly notBefore: number }>()

  constructor(parts: RenewalsParts) {
    this.#parts = parts
  }

  /** `why`: a clause for the log. Does nothing while a renewal of the slot is pending. */
  request(slot: WorkerSlot, why: string): void {
    if (this.#pending.has(slot) || performance.now() < (this.#renewed.get(slot)?.notBefore ?? 0)) return
    this.#pending.add(slot)
    void this.#renew(slot, why).finally(() => this.#pending.delete(slot))
  }

  async #renew(slot: WorkerSlot, why: string): Promise<void> {
    const { log, generations } = this.#parts
    const label = workerLabel(slot.spec)
    log('info', `worker ${label} is replaced: ${why}`)
    try {
      await generations.change((running) => running, { position: slot.spec.position })
      log('info', `worker ${label} was replaced`)
    } catch (error) {
      log('warn', `worker ${label} could not be replaced and goes on: ${(error as Error).message}`)
    }
    this.#pause(slot)
  }

  /** A slot whose renewals do not help waits longer from one to the next. */
  #pause(slot: WorkerSlot): void {
    const policy = this.#policies.get(slot) ?? new RestartPolicy(this.#parts.timing)
    this.#policies.set(slot, policy)
    const now = performance.now()
    const wait = policy.failed(now - (this.#renewed.get(slot)?.at ?? -Infinity))
    this.#renewed.set(slot, { at: now, notBefore: now + wait })
  }
}
