import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { runInScope } from '../../../mesh/scope.ts'
import { isDefined, recognise, recogniseNamed, servedNames, type Recognised } from './recognise-export.ts'
import type { CapturedServer } from '../servers/captured-server.ts'
import { type EntryExports, loadEntry } from './load-entry.ts'
import { applyNodeOptions } from './node-options.ts'
import { OpenHandles, type ThreadWork } from '../open-handles.ts'
import { ProgramExit, type ProgramProcess } from '../process/program-process.ts'
import type { Programs } from '../process/programs.ts'
import { neverListened, neverSignalled, startError, startTimeout } from './start-errors.ts'

export interface Started {
  readonly captured: CapturedServer
  readonly warnings: readonly string[]
}

/**
 * Milliseconds before a default export is served. Until then the program may still listen by
 * itself, for example after it has connected to its database.
 */
const exportGrace = 1_000
/** The share of `startTimeout` before a named export is served. */
const namedShare = 0.5
/**
 * Milliseconds for which a start goes on after the service listens: for the program's other
 * servers, and for errors after its `listen()`.
 */
const settleGrace = 500

/**
 * Runs a program until the server that is the service listens. Rejects with a BusbarError if the
 * program ends, if `startTimeout` expires, or if no open handle is left that could make it listen.
 */
export async function startProgram(program: ProgramProcess, programs: Programs, work: ThreadWork): Promise<Started> {
  const over = new AbortController()
  using handles = new OpenHandles(program.service.name, work)
  const start = new Start(program, programs, handles, over.signal)
  try {
    const outcomes = [start.ready(), start.ended, start.nothingLeft(), start.deadline()]
    const captured = await Promise.race(outcomes)
    // A fault in the callback of `listen()` is reported in the same turn of the event loop.
    const settled = Promise.all([start.evaluation, turn()])
    await Promise.race([start.ended, settled, delay(settleGrace, over.signal)])
    return { captured, warnings: [...start.warnings, ...handles.warnings] }
  } finally {
    over.abort()
  }
}

interface ChosenExport {
  readonly recognised: Recognised
  /** Milliseconds in which the program may still listen by itself. */
  readonly grace: number
}

class Start {
  readonly warnings: string[] = []
  readonly listening: Promise<CapturedServer>
  /** Rejects when the program throws or exits. */
  readonly ended: Promise<never>
  /** The exports of the entry. Stays pending if loading fails. */
  readonly evaluation: Promise<EntryExports>
  readonly #program: ProgramProcess
  readonly #handles: OpenHandles
  readonly #over: AbortSignal
  /** The export is being served: any server that listens is the service. */
  #servesExport = false
  #hasListened = false

  constructor(program: ProgramProcess, programs: Programs, handles: OpenHandles, over: AbortSignal) {
    this.#program = program
    this.#handles = handles
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

  /** Resolves when the service listens and, if the config asks for it, says that it is ready. */
  async ready(): Promise<CapturedServer> {
    const captured = await this.listening
    this.#hasListened = true
    if (this.#program.service.ready === 'signal') await this.#program.readySignal
    return captured
  }

  /** Serves the export, if there is one. Rejects when no open handle is left. */
  async nothingLeft(): Promise<never> {
    let { recognised, grace } = await this.#choose(await this.evaluation)
    if (recognised.is === 'factory') {
      const { create } = recognised
      recognised = await this.#attempt(async () => recognise(await create()))
      grace = exportGrace
    }
    if (recognised.is === 'servable') await this.#serveExport(recognised.listen, grace)
    await this.#handles.untilNone(this.#over)
    // It may still signal that it is ready, until the deadline.
    if (this.#hasListened) return new Promise<never>(() => {})
    // `Promise.race` ignores this rejection if the start is over.
    throw neverListened(this.#program, recognised.is === 'unknown' ? recognised.found : undefined)
  }

  async deadline(): Promise<never> {
    await delay(this.#program.service.startTimeout, this.#over)
    throw this.#hasListened ? neverSignalled(this.#program) : startTimeout(this.#program, this.#handles.types)
  }

  async #evaluate(programs: Programs): Promise<EntryExports> {
    this.warnings.push(...(await applyNodeOptions(this.#program)))
    return await loadEntry(this.#program, programs)
  }

  /** Chooses the default export, or else the first named export that can be served. */
  async #choose({ value, as, named }: EntryExports): Promise<ChosenExport> {
    const recognised = await this.#attempt(async () => recognise(await value))
    if (recognised.is !== 'unknown') return { recognised, grace: exportGrace }
    const found = recognised.found && `its ${as} is ${recognised.found}`
    const byName = named && (await this.#chooseNamed(named))
    return { recognised: byName ?? { is: 'unknown', found }, grace: 0 }
  }

  /**
   * Many programs export an app for their tests and listen by themselves, some only after their
   * database has answered. A name is a weaker sign than a default export, so the wait is longer.
   */
  async #chooseNamed(named: Readonly<Record<string, unknown>>): Promise<Recognised | undefined> {
    if (!servedNames.some((name) => isDefined(named[name]))) return undefined
    const grace = this.#program.service.startTimeout * namedShare
    if (!(await this.#isSilentFor(grace))) return undefined
    const hasOpenHandles = !this.#handles.isEmpty
    const chosen = await this.#attempt(() => recogniseNamed(named))
    if (chosen === undefined) return undefined
    const { name, recognised } = chosen
    if (recognised.is === 'unknown')
      return { is: 'unknown', found: recognised.found && `its export ${name} is ${recognised.found}` }
    if (hasOpenHandles)
      this.warnings.push(
        `did not listen within ${grace} ms, so its export ${name} is served; a default export is served after ${exportGrace} ms`,
      )
    return recognised
  }

  /** A server of the program's own is preferred, since it listens when the program is ready. */
  async #serveExport(listen: () => unknown, grace: number): Promise<void> {
    if (!(await this.#isSilentFor(grace))) return
    this.#servesExport = true
    await this.#attempt(async () => listen())
  }

  /**
   * Resolves when no open handle is left or after `grace` milliseconds: to true if the program has
   * not listened by itself.
   */
  async #isSilentFor(grace: number): Promise<boolean> {
    await Promise.race([this.#handles.untilNone(this.#over), delay(grace, this.#over)])
    return !this.#over.aborted && this.#program.servers.length === 0
  }

  #isService({ address }: CapturedServer): boolean {
    const { port } = this.#program.service
    return this.#servesExport || port === undefined || (typeof address !== 'string' && address.port === port)
  }

  /**
   * Runs code of the program in its scope. If it throws, the program ends and the promise stays
   * pending.
   */
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

/** Also resolves at the end of the start, so that no timer is left behind. */
function delay(milliseconds: number, over: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, { signal: over }).catch(() => {})
}
