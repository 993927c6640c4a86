import { syncBuiltinESMExports } from 'node:module'
import type { Server } from 'node:net'
import type { App, Service } from '../../config/app.ts'
import type { TemplateReports } from '../templates/template-reports.ts'
import type { Metering } from '../reporting/metering.ts'
import { type CallAccess, callsVariable } from '../../shared/calls/call-access.ts'
import type { FromWorker, LogRecord } from '../../shared/control-messages.ts'
import { type InheritedCallAccess, inheritCallAccess } from '../../shared/calls/inherit-call-access.ts'
import { currentScope } from '../../mesh/scope.ts'
import { patchWorkingDirectory } from '../../shared/working-directory/patch-all.ts'
import { thisThread } from '../../shared/process/this-thread.ts'
import { patchExit, catchFaults } from './process/exit-and-faults.ts'
import { patchEnvironment } from './process/environment.ts'
import { isolateSecondCopies } from './start/second-copies.ts'
import type { WorkSigns } from './open-handles.ts'
import { captureListen } from './servers/capture-listen.ts'
import { isHttpServer } from './servers/captured-server.ts'
import { type Output, patchOutput, RecordedOutput, untilExit } from './process/output.ts'
import { patchProcessEvents } from './process/process-events.ts'
import type { ProgramEnd } from './process/program-process.ts'
import { Programs } from './process/programs.ts'
import { patchReadySignal } from './process/ready-signal.ts'

export interface SandboxOptions {
  readonly app: App
  /** The services that this worker hosts. Default: all of the app. */
  readonly services?: readonly Service[]
  /** How threads and processes that programs start call services. */
  readonly calls?: CallAccess
  /** Called with each line that a program writes, without its newline. */
  readonly log: (record: LogRecord) => void
  /** Replaces log records: in a process, whose output goes to pipes. */
  readonly output?: Output | undefined
  readonly signs: WorkSigns
  /** Returns a new path for a server's private socket at each call. */
  readonly paths: () => string
  /**
   * Called just before a fault ends this worker. Not for a fault while a program starts, with which
   * `hostProgram` rejects.
   */
  readonly fault: (fault: Fault) => void
  /** Ends this thread, or the process. Default: the real `process.exit`. */
  readonly exit?: (code: number) => void
}

export type Fault = Extract<FromWorker, { type: 'fault' }>

/**
 * What the programs of this thread see in place of parts of Node. Disposing restores the originals.
 */
export interface Sandbox extends Disposable {
  readonly programs: Programs
  readonly output: Output
  readonly log: (record: LogRecord) => void
  readonly paths: () => string
  readonly signs: WorkSigns
  /** Counts and measures calls. Undefined in tests. */
  readonly metering?: Metering
  /** Gets the path templates of programs. Undefined in tests. */
  readonly templates?: TemplateReports
  /** Reports a fault of a serving program, then ends the worker as Node would end the process. */
  readonly die: (end: ProgramEnd) => void
}

/**
 * Patches this thread's `process`, `fs`, `net` and other built-ins for programs. Called once per
 * worker, outside any scope, before the first program starts.
 */
export function installSandbox(options: SandboxOptions): Sandbox {
  const patches = new DisposableStack()
  const { app, services = app.services, log, paths, signs } = options
  const programs = new Programs(app, services, process.env, options.calls)
  const output = options.output ?? new RecordedOutput(programs, log)
  const die = createDie(options, output, process.exit.bind(process))
  patches.defer(() => syncBuiltinESMExports())
  patchOutput(untilExit(output, programs), patches)
  if (!thisThread.isMain) patchFolder(programs, patches)
  patchEnvironment(programs, patches)
  patches.use(inheritCallAccess(() => inheritedCalls(programs)))
  isolateSecondCopies(services, patches)
  captureListen(programs, patches, paths)
  catchFaults(programs, die, patches)
  patchExit(programs, output, patches)
  patchProcessEvents(programs, patches)
  patchReadySignal(programs, patches)
  // Updates named imports such as `import { exit } from 'node:process'`.
  syncBuiltinESMExports()
  return { programs, output, log, paths, signs, die, [Symbol.dispose]: () => patches.dispose() }
}

function inheritedCalls({ current }: Programs): InheritedCallAccess | undefined {
  const access = current?.env[callsVariable]
  return access === undefined ? undefined : { access, hops: currentScope()?.hops ?? 0 }
}

/**
 * Emulates a working directory per program. A worker process has its program's folder as its own.
 */
function patchFolder(programs: Programs, patches: DisposableStack): void {
  const options = {
    directory: () => programs.currentOrOnly?.folder,
    enter: (folder: string) => {
      const program = programs.currentOrOnly
      if (program !== undefined) program.folder = folder
    },
    isVirtual: (server: Server) => programs.current !== undefined && isHttpServer(server),
  }
  patchWorkingDirectory(options, patches)
}

function createDie(options: SandboxOptions, output: Output, exit: (code: number) => void): (end: ProgramEnd) => void {
  return ({ reason, error, exitCode }) => {
    output.flush()
    options.fault({ type: 'fault', service: error.service, reason, error: error.toRecord() })
    const end = options.exit ?? exit
    end(exitCode)
  }
}
