import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { constants } from 'node:os'
import { thisThread } from '../../shared/this-thread.ts'
import type { ProgramProcess } from './program-process.ts'

/** Left to the supervisor, which says when they count; and those that no process can take. */
const excluded = new Set<NodeJS.Signals>(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL', 'SIGSTOP'])

/**
 * A process of its own gets signals from the system, and the handlers of its program are kept apart from `process`. Without a
 * handler on `process` the system would do what it does by default, which for SIGUSR2 is to end the process.
 */
export class SystemSignals {
  readonly #forwards = new Map<NodeJS.Signals, () => void>()

  /** To be called when the program's handlers of `signal` have changed. */
  update(program: ProgramProcess, signal: NodeJS.Signals): void {
    // Threads get no signals.
    if (!thisThread.isMain || excluded.has(signal)) return
    const isWanted = program.events.listenerCount(signal) > 0
    if (isWanted === this.#forwards.has(signal)) return
    if (isWanted) this.#follow(program, signal)
    else this.#leave(signal)
  }

  updateAll(program: ProgramProcess): void {
    for (const signal of this.#forwards.keys()) this.update(program, signal)
  }

  [Symbol.dispose](): void {
    for (const signal of this.#forwards.keys()) this.#leave(signal)
  }

  #follow(program: ProgramProcess, signal: NodeJS.Signals): void {
    const inProgram = AsyncLocalStorage.snapshot()
    const forward = (): void => {
      try {
        inProgram(() => program.emit(signal, signal, constants.signals[signal]))
      } finally {
        this.update(program, signal)
      }
    }
    this.#forwards.set(signal, forward)
    // Not by `process.on`, which leads to the program's own events.
    EventEmitter.prototype.on.call(process, signal, forward)
  }

  #leave(signal: NodeJS.Signals): void {
    EventEmitter.prototype.off.call(process, signal, this.#forwards.get(signal)!)
    this.#forwards.delete(signal)
  }
}
