import { runInScope } from '../../mesh/scope.ts'
import type { Output } from './output.ts'
import { replace } from '../../shared/replace.ts'
import { ProgramExit, faultOf, type ProgramEnd, type ProgramProcess } from './program-process.ts'
import type { Programs } from './programs.ts'

/** `process.exit()` ends the program that calls it; what that means for the thread depends on its phase. */
export function patchExit(programs: Programs, output: Output, patches: DisposableStack): void {
  replace(patches, process, 'exit', (exit) => (code) => {
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
  // Before whoever sends out what was printed: the last lines come now.
  process.prependListener('exit', onExit)
  patches.defer(() => void process.removeListener('exit', onExit))
}

/**
 * Gives an uncaught exception or rejection to the program it happened in: first to its own handlers, as Node would,
 * else as its end. The async context that threw is still current when Node asks.
 */
export function watchFaults(programs: Programs, orphaned: (end: ProgramEnd) => void, patches: DisposableStack): void {
  const fault = (reason: 'exception' | 'rejection', thrown: unknown, run: Handling): void => {
    if (thrown instanceof ProgramExit) return
    const program = programs.suspect
    const [error, handled] = handle(thrown, () => program !== undefined && run(program))
    if (handled || error instanceof ProgramExit) return
    const end = faultOf(program?.service.name, reason, error)
    if (program === undefined) orphaned(end)
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

type Handling = (program: ProgramProcess) => boolean

function emitException(program: ProgramProcess, error: unknown, origin: string): boolean {
  program.emit('uncaughtExceptionMonitor', error, origin)
  return program.emit('uncaughtException', error, origin)
}

/** A handler that throws ends its program as an unhandled fault would: with the handler's own error. */
function handle(thrown: unknown, run: () => boolean): [error: unknown, handled: boolean] {
  try {
    return [thrown, run()]
  } catch (error) {
    return [error, false]
  }
}
