import { runInScope } from '../../../mesh/scope.ts'
import type { Output } from './output.ts'
import { replaceProperty } from '../../../shared/process/replace-property.ts'
import { ProgramExit, faultOf, type ProgramEnd, type ProgramProcess } from './program-process.ts'
import type { Programs } from './programs.ts'

/**
 * Makes `process.exit()` end only the program that calls it. Its phase decides what the thread
 * does.
 */
export function patchExit(programs: Programs, output: Output, patches: DisposableStack): void {
  replaceProperty(patches, process, 'exit', (exit) => (code) => {
    const program = programs.current
    if (program === undefined) return exit(code)
    return program.exit(Number(code ?? process.exitCode ?? 0))
  })
  const onExit = (code: number): void => {
    for (const program of programs) {
      runInScope({ service: program.service.name, hops: 0 }, () => program.emitExit(code))
    }
    output.flush()
  }
  // Runs before the listener that sends log lines: handlers may print their last ones now.
  process.prependListener('exit', onExit)
  patches.defer(() => void process.removeListener('exit', onExit))
}

/**
 * Attributes an uncaught exception or rejection to the program in which it happened: calls its own
 * handlers, as Node would, and ends the program if it has none. The async context of the fault is
 * still current when Node emits these events. `unattributed` gets faults of no program.
 */
export function catchFaults(
  programs: Programs,
  unattributed: (end: ProgramEnd) => void,
  patches: DisposableStack,
): void {
  const fault = (reason: 'exception' | 'rejection', thrown: unknown, run: FaultHandlers): void => {
    if (thrown instanceof ProgramExit) return
    const program = programs.currentOrOnly
    const [error, handled] = runHandlers(thrown, () => program !== undefined && run(program))
    if (handled || error instanceof ProgramExit) return
    const end = faultOf(program?.service.name, reason, error)
    if (program === undefined) unattributed(end)
    else program.end(end)
  }
  const onException = (error: unknown, origin: string): void =>
    fault('exception', error, (program) => emitException(program, error, origin))
  const onRejection = (reason: unknown, promise: unknown): void =>
    fault('rejection', reason, (program) => {
      return program.emit('unhandledRejection', reason, promise) || emitException(program, reason, 'unhandledRejection')
    })
  process.on('uncaughtException', onException)
  process.on('unhandledRejection', onRejection)
  patches.defer(() => {
    process.removeListener('uncaughtException', onException)
    process.removeListener('unhandledRejection', onRejection)
  })
}

/** Runs a program's handlers. Returns false if it has none. */
type FaultHandlers = (program: ProgramProcess) => boolean

function emitException(program: ProgramProcess, error: unknown, origin: string): boolean {
  program.emit('uncaughtExceptionMonitor', error, origin)
  return program.emit('uncaughtException', error, origin)
}

/** A handler that throws ends its program, with the handler's error. */
function runHandlers(thrown: unknown, run: () => boolean): [error: unknown, handled: boolean] {
  try {
    return [thrown, run()]
  } catch (error) {
    return [error, false]
  }
}
