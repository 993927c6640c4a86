import type { App } from '../../config/app.ts'
import type { ServiceReport } from '../../shared/control-messages.ts'
import { SlowStart, type SlowStartSpec } from '../../shared/slow-start.ts'
import { settlesWithin } from '../../shared/time/settles-within.ts'
import type { Hold } from '../peers/peer-registry.ts'
import { pauseOwner } from '../app-queue.ts'
import type { SlotSpec } from '../plan.ts'
import type { Timing } from '../timing.ts'
import { stopped } from './worker-exit.ts'
import type { WorkerHandle } from './worker-handle.ts'

export interface SuccessionParts {
  readonly mode: 'start' | 'dev'
  readonly timing: Pick<Timing, 'devDrain'>
  readonly launch: (spec: SlotSpec, app: App, hold: Hold) => WorkerHandle
  /** Lets peers call the worker. `slowStart`: more and more. */
  readonly announce: (worker: WorkerHandle, slowStart?: SlowStartSpec) => void
  /** Resolves when no peer calls the worker any more, or when that has taken too long. */
  readonly leave: (worker: WorkerHandle) => Promise<void>
  /** The worker of the previous generation has drained. */
  readonly retired: () => void
}

/** The worker of a slot in the next generation, and what the slot becomes when it takes over. */
export interface Successor {
  readonly worker: WorkerHandle
  readonly app: App
  readonly spec: SlotSpec
  /** Empty until it is ready. */
  readonly services: readonly ServiceReport[]
}

/**
 * The workers of a slot in the next and in the previous generation. The previous one finishes what
 * is in flight while the slot's worker serves. There is at most one of each.
 */
export class Succession {
  readonly #parts: SuccessionParts
  #successor: Successor | undefined
  #predecessor: WorkerHandle | undefined
  #isBeside = false
  #retired: Promise<void> = Promise.resolve()

  constructor(parts: SuccessionParts) {
    this.#parts = parts
  }

  get workers(): readonly (WorkerHandle | undefined)[] {
    return [this.#successor?.worker, this.#predecessor]
  }

  /** The successor, once it is ready. */
  get ready(): WorkerHandle | undefined {
    const worker = this.#successor?.worker
    return worker?.serving === true ? worker : undefined
  }

  /**
   * Resolves when the previous generation has ended. Ends `worker` if it does not serve, and drains
   * it if the successor can only start after it has ended.
   */
  async makeRoom(worker: WorkerHandle | undefined, isExclusive: boolean, timeout: number): Promise<void> {
    await this.#finish()
    if (worker?.serving !== true) return await worker?.end(stopped)
    if (!isExclusive) return
    await worker.drain(await timeLeft(this.#parts.leave(worker), timeout))
  }

  /** Starts the successor. Rejects with the service's error if it cannot start. */
  async prepare(app: App, spec: SlotSpec): Promise<void> {
    const worker = this.#parts.launch(spec, app, 'successor')
    this.#successor = { worker, app, spec, services: [] }
    const services = await worker.ready
    this.#successor = { worker, app, spec, services }
  }

  /** The successor while it serves beside the slot's worker. */
  get beside(): WorkerHandle | undefined {
    return this.#isBeside ? this.ready : undefined
  }

  /** Peers call the successor, too, unless it is an owner of a queue's file. */
  serveBeside(slowStart: SlowStartSpec): void {
    const { ready } = this
    if (ready === undefined || this.#isBeside || ready.spec.queueFile !== undefined) return
    this.#isBeside = true
    ready.slowStart = new SlowStart(slowStart)
    this.#parts.announce(ready, slowStart)
  }

  /** Peers call the successor from now on. `worker`: the one that it replaces, which drains. */
  takeOver(worker: WorkerHandle | undefined): Successor {
    const successor = this.#successor!
    this.#successor = undefined
    this.#isBeside = false
    if (worker?.serving === true && haveOneFile(worker, successor.worker)) {
      this.#retired = this.#handOverFile(worker, successor)
      return successor
    }
    this.#parts.announce(successor.worker)
    if (worker !== undefined) this.#retired = this.#retire(worker, successor.app.stopTimeout)
    return successor
  }

  async discard(timeout: number): Promise<void> {
    const worker = this.#successor?.worker
    this.#successor = undefined
    this.#isBeside = false
    if (worker !== undefined) await this.dismiss(worker, timeout)
  }

  /** Ends a worker that is not needed any more, such as a spare. It may be answering calls. */
  async dismiss(worker: WorkerHandle, timeout: number): Promise<void> {
    this.#predecessor = worker
    const left = await timeLeft(this.#parts.leave(worker), timeout)
    await (worker.serving ? worker.drain(left) : worker.end(stopped))
  }

  async stop(timeout: number): Promise<void> {
    await Promise.all([this.#successor?.worker.end(stopped), this.#predecessor?.drain(timeout)])
  }

  /**
   * Each generation takes memory, so the next one waits for the previous one. In development an
   * open page must not delay the next edit.
   */
  async #finish(): Promise<void> {
    const { mode, timing } = this.#parts
    await (mode === 'start' ? this.#retired : settlesWithin(timing.devDrain, [this.#retired]))
    await this.#predecessor?.end(stopped)
  }

  /**
   * Workers of both generations enqueue in requests that they have accepted. So the owner of the
   * queue's file gets their calls until no attempt runs any more. Then it releases the file at
   * once, and what is enqueued meanwhile waits for that at the successor.
   */
  async #handOverFile(worker: WorkerHandle, { worker: successor, app }: Successor): Promise<void> {
    this.#predecessor = worker
    const { mode, timing } = this.#parts
    // Before the next generation ends this worker.
    const time = mode === 'start' ? app.stopTimeout : Math.min(app.stopTimeout, timing.devDrain)
    const order = { kind: 'pause', limit: 0.75 * time, handsOver: true } as const
    const left = await timeLeft(pauseOwner(worker, order), app.stopTimeout)
    this.#parts.announce(successor)
    await this.#retire(worker, left)
  }

  /**
   * Peers leave first: a call to a worker that accepts none is refused, and a streamed body cannot
   * be sent again.
   */
  async #retire(worker: WorkerHandle, timeout: number): Promise<void> {
    this.#predecessor = worker
    const left = await timeLeft(this.#parts.leave(worker), timeout)
    // One that still starts serves nothing.
    await (worker.phase === 'booting' ? worker.end(stopped) : worker.drain(left))
    this.#parts.retired()
  }
}

function haveOneFile({ spec }: WorkerHandle, { spec: next }: WorkerHandle): boolean {
  return spec.queueFile !== undefined && spec.queueFile === next.queueFile
}

/**
 * What is left of the `timeout` of a stop when its callers have left the worker. At least a
 * quarter: its program has to end, too.
 */
export async function timeLeft(leaving: Promise<void>, timeout: number): Promise<number> {
  const began = performance.now()
  await leaving
  return Math.max(timeout - (performance.now() - began), timeout / 4)
}
