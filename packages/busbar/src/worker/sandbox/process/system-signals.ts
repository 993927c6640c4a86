import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { constants } from 'node:os'
import { thisThread } from '../../../shared/process/this-thread.ts'
import type { ProgramProcess } from './program-process.ts'

/** Handled by the supervisor (the first three), or by no process. */
const excluded = new Set<NodeJS.Signals>(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL', 'SIGSTOP'])

/**
 * Forwards system signals of a worker process to its program, whose handlers are not on the real
 * `process`. Without a real handler the system's default applies, which for SIGUSR2 ends the
 * process.
 */
export class SystemSignals {
  readonly #forwards = new Map<NodeJS.Signals, () => void>()

  /** Called when the program's handlers of `signal` have changed. */
  update(program: ProgramProcess, signal: NodeJS.Signals): void {
    // Threads receive no signals.
    if (!thisThread.isMain || excluded.has(signal)) return
    const isHandled = program.events.listenerCount(signal) > 0
    if (isHandled === this.#forwards.has(signal)) return
    if (isHandled) this.#listen(program, signal)
    else this.#unlisten(signal)
  }

  updateAll(program: ProgramProcess): void {
    for (const signal of this.#forwards.keys()) this.update(program, signal)
  }

  [Symbol.dispose](): void {
    for (const signal of this.#forwards.keys()) this.#unlisten(signal)
  }

  #listen(program: ProgramProcess, signal: NodeJS.Signals): void {
    const inProgram = AsyncLocalStorage.snapshot()
    const forward = (): void => {
      try {
        inProgram(() => program.emit(signal, signal, constants.signals[signal]))
      } finally {
        this.update(program, signal)
      }
    }
    this.#forwards.set(signal, forward)
    // Not `process.on`, which registers on the program's own events.
    EventEmitter.prototype.on.call(process, signal, forward)
  }

  #unlisten(signal: NodeJS.Signals): void {
    EventEmitter.prototype.off.call(process, signal, this.#forwards.get(signal)!)
    this.#forwards.delete(signal)
  }
}
