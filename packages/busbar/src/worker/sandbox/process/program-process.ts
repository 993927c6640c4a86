import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers'
import type { Service } from '../../../config/app.ts'
import { BusbarError } from '../../../contract/errors.ts'
import type { CapturedServer } from '../servers/captured-server.ts'
import { codeFolder } from '../../../shared/package-files.ts'

/** Why a program ended: its error, and the exit code that its own process would have. */
export interface ProgramEnd {
  readonly reason: 'exception' | 'rejection' | 'exit'
  readonly error: BusbarError
  readonly exitCode: number
}

/** A phase of a program's life. `ended` is called if the program ends in that phase. */
export type Phase =
  | { readonly is: 'idle' }
  | { readonly is: 'starting'; readonly ended: (end: ProgramEnd) => void }
  | { readonly is: 'serving'; readonly ended: (end: ProgramEnd) => void }
  | { readonly is: 'stopping'; readonly ended: (end: ProgramEnd) => void }
  | { readonly is: 'stopped' }

/**
 * Thrown by `process.exit()`, so that code after the call does not run. Busbar ignores it if it is
 * not caught.
 */
export class ProgramExit extends Error {
  override readonly name = 'ProgramExit'

  constructor(service: string, code: number) {
    super(`'${service}' called process.exit(${code}) and has stopped`)
  }
}

type Listener = (...args: unknown[]) => unknown

/**
 * One program's view of `process`: environment, arguments, working directory, handlers and exit.
 */
export class ProgramProcess {
  readonly service: Service
  readonly env: Record<string, string>
  readonly argv: string[]
  /** Its working directory. */
  folder: string
  /** The handlers of signals, faults and exit that the program registered on `process`. */
  readonly events = new EventEmitter()
  /** Its servers that listen, in the order in which they began. */
  readonly servers: CapturedServer[] = []
  /** Called for each server that begins to listen. */
  onListen: (server: CapturedServer) => void = () => {}
  /** Its `require.main` and `process.mainModule`; undefined for an ES module. */
  mainModule: unknown
  readonly #ready = Promise.withResolvers<void>()
  #phase: Phase = { is: 'idle' }
  #exitEmitted = false
  #emitsExit = false
  #exits = false

  constructor(service: Service, env: Record<string, string>) {
    this.service = service
    this.env = env
    this.folder = service.path
    this.argv = [process.execPath, service.entry.file, ...service.entry.args]
    this.events.setMaxListeners(0)
  }

  get phase(): Phase['is'] {
    return this.#phase.is
  }

  enterPhase(phase: Phase): void {
    this.#phase = phase
  }

  /** Resolves when the program has said that it is ready. */
  get readySignal(): Promise<void> {
    return this.#ready.promise
  }

  signalReady(): void {
    this.#ready.resolve()
  }

  /** Reports the end to the current phase. Returns false if the program has ended before. */
  end(end: ProgramEnd): boolean {
    if (!('ended' in this.#phase)) return false
    this.#phase.ended(end)
    return true
  }

  /**
   * True from `process.exit()` during a stop to the end of that turn of the event loop. What runs
   * meanwhile is a `catch` or a `finally` around the call, which would not run in plain Node.
   */
  get exits(): boolean {
    return this.#exits
  }

  /**
   * Implements `process.exit(code)` for this program. Throws {@link ProgramExit} while it starts or
   * stops, also if it is alone in its thread or process: requests in flight are still answered.
   */
  exit(code: number): never {
    const exit = new ProgramExit(this.service.name, code)
    this.emitExit(code)
    const end: ProgramEnd = { reason: 'exit', error: exitError(this.service.name, code), exitCode: code }
    if (this.phase === 'stopping') this.#endAfterTurn(end)
    else this.end(end)
    throw exit
  }

  #endAfterTurn(end: ProgramEnd): void {
    // Within an 'exit' handler: the others run, too, and print.
    if (!this.#emitsExit) this.#exits = true
    setImmediate(() => {
      this.#exits = false
      this.end(end)
    })
  }

  /** Runs the 'exit' handlers, at most once in a program's life. */
  emitExit(code: number): void {
    if (this.#exitEmitted) return
    this.#exitEmitted = true
    this.#emitsExit = true
    try {
      for (const listener of this.listeners('exit')) ignoreExit(() => Reflect.apply(listener, process, [code]))
    } finally {
      this.#emitsExit = false
    }
  }

  /** Runs the program's handlers as Node would. Returns false if there are none. */
  emit(event: string | symbol, ...args: unknown[]): boolean {
    const listeners = this.listeners(event)
    for (const listener of listeners) Reflect.apply(listener, process, args)
    return listeners.length > 0
  }

  listeners(event: string | symbol): Listener[] {
    return this.events.rawListeners(event) as Listener[]
  }
}

/** The end of a program by a fault that it did not handle. */
export function faultOf(service: string | undefined, reason: 'exception' | 'rejection', thrown: unknown): ProgramEnd {
  const where = service === undefined ? 'code that belongs to no service' : `service '${service}'`
  const what = reason === 'exception' ? 'threw' : 'left a rejection unhandled'
  const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  const message = `${where} ${what}: ${text}`
  const error = new BusbarError('PROGRAM_THREW', {
    message,
    cause: withProgramStack(thrown),
    ...(service !== undefined && { service }),
  })
  return { reason, error, exitCode: 1 }
}

function exitError(service: string, code: number): BusbarError {
  const cause = withProgramStack(new Error(`process.exit(${code})`))
  return new BusbarError('PROGRAM_EXITED', {
    message: `service '${service}' called process.exit(${code})`,
    hint: 'The stack shows where. Remove the call: a hosted program ends only when it is stopped.',
    service,
    cause,
  })
}

const ownFolder = codeFolder()

/**
 * True for a stack line of Node's loader or of Busbar, which does not help to find a program's
 * fault.
 */
function isForeign(line: string): boolean {
  return line.includes(ownFolder) || line.includes('node:internal/')
}

/**
 * Returns the error with a stack of the program's own lines. The thrown object is not changed,
 * since handlers of the program may have it too.
 */
export function withProgramStack(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || typeof thrown.stack !== 'string') return thrown
  const lines = thrown.stack.split('\n')
  const last = lines.findLastIndex((line) => line.startsWith('    at ') && !isForeign(line))
  if (last < 0) return thrown
  const own = lines.filter((line, index) => index <= last && !line.includes(ownFolder))
  return Object.create(thrown, { stack: { value: own.join('\n') } }) as Error
}

function ignoreExit(run: () => void): void {
  try {
    run()
  } catch (error) {
    if (!(error instanceof ProgramExit)) throw error
  }
}
