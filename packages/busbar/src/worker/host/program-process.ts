import { EventEmitter } from 'node:events'
import type { Service } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { CapturedServer } from './captured-server.ts'
import { withOwnStack } from './stack.ts'

/** How a program came to its end: what a {@link BusbarError} about it says, and what its process would exit with. */
export interface ProgramEnd {
  readonly reason: 'exception' | 'rejection' | 'exit'
  readonly error: BusbarError
  readonly exitCode: number
}

/** Where a program is in its life, and who wants to know of its end there. */
export type Phase =
  | { readonly is: 'idle' }
  | { readonly is: 'starting'; readonly ended: (end: ProgramEnd) => void }
  | { readonly is: 'serving'; readonly ended: (end: ProgramEnd) => void }
  | { readonly is: 'stopping'; readonly ended: (end: ProgramEnd) => void }
  | { readonly is: 'stopped' }

/**
 * Thrown by `process.exit()`, so that nothing behind the call runs. It ends the program's flow and nothing else: where
 * nobody catches it, it is ignored.
 */
export class ProgramExit extends Error {
  override readonly name = 'ProgramExit'

  constructor(service: string, code: number) {
    super(`'${service}' called process.exit(${code}) and has stopped`)
  }
}

type Listener = (...args: unknown[]) => unknown

/** What one program takes for its process, while it shares the real one: environment, arguments, handlers, end. */
export class ProgramProcess {
  readonly service: Service
  readonly env: Record<string, string>
  readonly argv: string[]
  /** Where its relative paths start from. */
  folder: string
  /** Handlers of signals, faults and exit that the program registered on `process`. */
  readonly events = new EventEmitter()
  /** Servers that took its connections, in the order they began to listen. */
  readonly servers: CapturedServer[] = []
  /** Called for each server that begins to listen. */
  onListen: (server: CapturedServer) => void = () => {}
  /** What `require.main` and `process.mainModule` are in this program; undefined for an ES module. */
  mainModule: unknown
  #phase: Phase = { is: 'idle' }
  #exitEmitted = false

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

  /** Tells whoever the phase says. False when the program had ended before, so that this is only an echo. */
  end(end: ProgramEnd): boolean {
    if (!('ended' in this.#phase)) return false
    this.#phase.ended(end)
    return true
  }

  /** What `process.exit(code)` does in this program. */
  exit(code: number): never {
    const exit = new ProgramExit(this.service.name, code)
    this.emitExit(code)
    this.end({ reason: 'exit', error: exitError(this.service.name, code), exitCode: code })
    throw exit
  }

  /** Once in a program's life, as in a process's. */
  emitExit(code: number): void {
    if (this.#exitEmitted) return
    this.#exitEmitted = true
    for (const listener of this.listeners('exit')) ignoreExit(() => Reflect.apply(listener, process, [code]))
  }

  /** Runs the program's handlers as the process would. False where there is none. */
  emit(event: string | symbol, ...args: unknown[]): boolean {
    const listeners = this.listeners(event)
    for (const listener of listeners) Reflect.apply(listener, process, args)
    return listeners.length > 0
  }

  listeners(event: string | symbol): Listener[] {
    return this.events.rawListeners(event) as Listener[]
  }
}

/** A fault that nobody in the program took. */
export function faultOf(service: string | undefined, reason: 'exception' | 'rejection', thrown: unknown): ProgramEnd {
  const where = service === undefined ? 'code that belongs to no service' : `service '${service}'`
  const what = reason === 'exception' ? 'threw' : 'left a rejection unhandled'
  const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  const message = `${where} ${what}: ${text}`
  const error = new BusbarError('PROGRAM_THREW', {
    message,
    cause: withOwnStack(thrown),
    ...(service !== undefined && { service }),
  })
  return { reason, error, exitCode: 1 }
}

function exitError(service: string, code: number): BusbarError {
  const cause = withOwnStack(new Error(`process.exit(${code})`))
  return new BusbarError('PROGRAM_EXITED', {
    message: `service '${service}' called process.exit(${code})`,
    hint: 'The stack says where; a hosted program ends only when it is stopped',
    service,
    cause,
  })
}

function ignoreExit(run: () => void): void {
  try {
    run()
  } catch (error) {
    if (!(error instanceof ProgramExit)) throw error
  }
}
