import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { runInScope } from '../../mesh/scope.ts'
import { isGiven, recognise, recogniseNamed, servedNames, type Recognised } from './exports.ts'
import type { CapturedServer } from './captured-server.ts'
import { type Exported, loadEntry } from './load.ts'
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
/** The part of its start time for which a named export waits. */
const namedShare = 0.5
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
    // What the callback of its `listen()` throws, or rejects with, is told in the same turn of the event loop.
    const settled = Promise.all([start.evaluation, turn()])
    await Promise.race([start.ended, settled, rest(settleGrace, over.signal)])
    return { captured, warnings: start.warnings }
  } finally {
    over.abort()
  }
}

interface Chosen {
  readonly recognised: Recognised
  /** Milliseconds that are still to be waited for a program that may listen by itself. */
  readonly grace: number
}

class Start {
  readonly warnings: string[] = []
  readonly listening: Promise<CapturedServer>
  /** Rejects when the program throws or exits. */
  readonly ended: Promise<never>
  /** What the entry exports. Pending for good where loading it failed. */
  readonly evaluation: Promise<Exported>
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
    let { recognised, grace } = await this.#choose(await this.evaluation)
    if (recognised.is === 'factory') {
      const { create } = recognised
      recognised = await this.#attempt(async () => recognise(await create()))
      grace = exportGrace
    }
    if (recognised.is === 'servable') await this.#adopt(recognised.listen, grace)
    await this.#watch.untilIdle(this.#over)
    // The rejection of a start that is over is nobody's.
    throw neverListened(this.#program, recognised.is === 'unknown' ? recognised.found : undefined)
  }

  async deadline(): Promise<never> {
    await rest(this.#program.service.startTimeout, this.#over)
    throw startTimeout(this.#program, this.#watch.kinds)
  }

  async #evaluate(programs: Programs): Promise<Exported> {
    this.warnings.push(...(await applyNodeOptions(this.#program)))
    return await loadEntry(this.#program, programs)
  }

  /** The default export, else the first of those that are served by their names. */
  async #choose({ value, as, named }: Exported): Promise<Chosen> {
    const recognised = await this.#attempt(async () => recognise(await value))
    if (recognised.is !== 'unknown') return { recognised, grace: exportGrace }
    const found = recognised.found && `its ${as} is ${recognised.found}`
    const byName = named && (await this.#chooseNamed(named))
    return { recognised: byName ?? { is: 'unknown', found }, grace: 0 }
  }

  /**
   * Many programs export an app for their tests and listen by themselves, some only when their database answers: a name
   * is a hint where a default export is a statement. So it is waited for longer, and nothing is done with it before.
   */
  async #chooseNamed(named: Readonly<Record<string, unknown>>): Promise<Recognised | undefined> {
    if (!servedNames.some((name) => isGiven(named[name]))) return undefined
    const grace = this.#program.service.startTimeout * namedShare
    if (!(await this.#untilLeft(grace))) return undefined
    const isOpen = !this.#watch.idle
    const chosen = await this.#attempt(() => recogniseNamed(named))
    if (chosen === undefined) return undefined
    const { name, recognised } = chosen
    if (recognised.is === 'unknown')
      return { is: 'unknown', found: recognised.found && `its export ${name} is ${recognised.found}` }
    if (isOpen)
      this.warnings.push(
        `did not listen within ${grace} ms, so its export ${name} is served; a default export is served after ${exportGrace} ms`,
      )
    return recognised
  }

  /** A program that also listens by itself is preferred: it does so when it is ready. */
  async #adopt(listen: () => unknown, grace: number): Promise<void> {
    if (!(await this.#untilLeft(grace))) return
    this.#adopts = true
    await this.#attempt(async () => listen())
  }

  /** Whether the program has left it to its export: nothing is left in it that could listen, or the time is over. */
  async #untilLeft(grace: number): Promise<boolean> {
    await Promise.race([this.#watch.untilIdle(this.#over), rest(grace, this.#over)])
    return !this.#over.aborted && this.#program.servers.length === 0
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
