import { setTimeout as sleep } from 'node:timers/promises'
import { runInScope } from '../../mesh/scope.ts'
import { recognise, type Recognised } from './exports.ts'
import type { CapturedServer } from './listen.ts'
import { loadEntry } from './load.ts'
import { applyNodeOptions } from './node-options.ts'
import { PendingWatch } from './pending.ts'
import { ProgramExit, type ProgramProcess } from './program-process.ts'
import type { Programs } from './programs.ts'
import { neverListened, startError, startTimeout } from './start-errors.ts'

export interface Started {
  readonly captured: CapturedServer
  readonly warnings: readonly string[]
}

/** How long an export waits for a program that may yet listen by itself, such as one that first connects to its database. */
const exportGrace = 1_000
/** How long a start goes on once the service listens: for the program's other servers, and a throw behind its `listen()`. */
const settleGrace = 500

/**
 * Runs a program until it listens. That ends in one of four ways: the server that is the service listens; the program
 * ends; its time runs out; or nothing is left in it that could ever listen. Rejects with a BusbarError.
 */
export async function startProgram(program: ProgramProcess, programs: Programs): Promise<Started> {
  const over = new AbortController()
  using watch = new PendingWatch(program.service.name)
  const start = new Start(program, programs, watch, over.signal)
  try {
    const ways = [start.listening, start.ended, start.dryness(), start.deadline()]
    const captured = await Promise.race(ways)
    await Promise.race([start.evaluation, start.ended, rest(settleGrace, over.signal)])
    return { captured, warnings: start.warnings }
  } finally {
    over.abort()
  }
}

class Start {
  readonly warnings: string[] = []
  readonly listening: Promise<CapturedServer>
  /** Rejects when the program throws or exits. */
  readonly ended: Promise<never>
  /** What came of loading the entry: the way to serve what it exports. Pending for good where it failed. */
  readonly evaluation: Promise<Recognised>
  readonly #program: ProgramProcess
  readonly #watch: PendingWatch
  readonly #over: AbortSignal
  #adopts = false

  constructor(program: ProgramProcess, programs: Programs, watch: PendingWatch, over: AbortSignal) {
    this.#program = program
    this.#watch = watch
    this.#over = over
    const listening = Promise.withResolvers<CapturedServer>()
    const ended = Promise.withResolvers<never>()
    this.listening = listening.promise
    this.ended = ended.promise
    program.enterPhase({ is: 'starting', ended: ({ error }) => ended.reject(error) })
    program.onListen = (captured) => {
      if (this.#isService(captured)) listening.resolve(captured)
    }
    this.evaluation = this.#attempt(() => this.#evaluate(programs))
  }

  /** Serves the export, if there is one, and rejects when nothing is left that could listen. */
  async dryness(): Promise<never> {
    let exported = await this.evaluation
    if (exported.is === 'factory') {
      const { create } = exported
      exported = await this.#attempt(async () => recognise(await create()))
    }
    if (exported.is === 'servable') await this.#adopt(exported.listen)
    await this.#watch.untilIdle(this.#over)
    // The rejection of a start that is over is nobody's.
    throw neverListened(this.#program, exported.is === 'unknown' ? exported.found : undefined)
  }

  async deadline(): Promise<never> {
    await rest(this.#program.service.startTimeout, this.#over)
    throw startTimeout(this.#program, this.#watch.kinds)
  }

  async #evaluate(programs: Programs): Promise<Recognised> {
    this.warnings.push(...(await applyNodeOptions(this.#program)))
    const { value, as } = await loadEntry(this.#program, programs)
    const recognised = recognise(await value)
    if (recognised.is !== 'unknown' || recognised.found === undefined) return recognised
    return { is: 'unknown', found: `its ${as} is ${recognised.found}` }
  }

  /** A program that also listens by itself is preferred: it does so when it is ready. */
  async #adopt(listen: () => unknown): Promise<void> {
    await Promise.race([this.#watch.untilIdle(this.#over), rest(exportGrace, this.#over)])
    if (this.#over.aborted || this.#program.servers.length > 0) return
    this.#adopts = true
    await this.#attempt(async () => listen())
  }

  #isService({ address }: CapturedServer): boolean {
    const { port } = this.#program.service
    return this.#adopts || port === undefined || (typeof address !== 'string' && address.port === port)
  }

  /** Runs the program's code in its scope. What it throws is its end, and the promise stays pending then. */
  async #attempt<R>(run: () => Promise<R>): Promise<R> {
    try {
      return await runInScope({ service: this.#program.service.name, hops: 0 }, run)
    } catch (thrown) {
      if (!(thrown instanceof ProgramExit)) {
        const error = startError(this.#program, thrown)
        this.#program.end({ reason: 'exception', error, exitCode: 1 })
      }
      return new Promise<never>(() => {})
    }
  }
}

/** Resolves at the end of the start too, which leaves no timer behind. */
function rest(delay: number, over: AbortSignal): Promise<void> {
  return sleep(delay, undefined, { signal: over }).catch(() => {})
}
