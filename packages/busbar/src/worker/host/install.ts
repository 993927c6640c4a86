import { syncBuiltinESMExports } from 'node:module'
import type { Server } from 'node:net'
import type { App, Service } from '../../config/app.ts'
import type { Metering } from '../metering.ts'
import { type CallAccess, callsVariable } from '../../shared/call-access.ts'
import type { FromWorker, LogRecord } from '../../shared/control.ts'
import { type InheritedCalls, inheritCalls } from '../../shared/inherited-calls.ts'
import { currentScope } from '../../mesh/scope.ts'
import { followFolder } from '../../shared/folder/follow.ts'
import { thisThread } from '../../shared/this-thread.ts'
import { patchExit, watchFaults } from './endings.ts'
import { patchEnvironment } from './environment.ts'
import { isolateSecondCopies } from './copies.ts'
import { captureListen } from './listen.ts'
import { isHttpServer } from './server-kinds.ts'
import { type Output, patchOutput, RecordedOutput } from './output.ts'
import { patchProcessEvents } from './process-events.ts'
import type { ProgramEnd } from './program-process.ts'
import { Programs } from './programs.ts'

export interface HostingOptions {
  readonly app: App
  /** Those of the app that this worker hosts; all of them where it does not say. */
  readonly services?: readonly Service[]
  /** By which the threads and processes that programs start call services. */
  readonly calls?: CallAccess
  /** Gets each line that a program wrote, once, without its newline. */
  readonly log: (record: LogRecord) => void
  /** In the place of records where a process has pipes of its own. */
  readonly output?: Output | undefined
  /** Where servers of programs listen on private sockets: a new path each time. */
  readonly paths: () => string
  /** Told of what ends this worker, just before it ends; never of what fails a start, which {@link hostProgram} throws. */
  readonly fault: (fault: Fault) => void
  /** Ends this thread, or the process in its main thread; `process.exit` by default. */
  readonly exit?: (code: number) => void
}

export type Fault = Extract<FromWorker, { type: 'fault' }>

/** What the programs of this thread see of Node instead of the real thing; disposing puts the real thing back. */
export interface Hosting extends Disposable {
  readonly programs: Programs
  readonly output: Output
  readonly log: (record: LogRecord) => void
  readonly paths: () => string
  /** Where calls are counted, if anywhere. */
  readonly metering?: Metering
  /** Reports a fault of a serving program, then ends the worker as Node would end the process. */
  readonly die: (end: ProgramEnd) => void
}

/** Once per worker, before the first program and outside of any scope: the patches are process-wide. */
export function installHosting(options: HostingOptions): Hosting {
  const patches = new DisposableStack()
  const { app, services = app.services } = options
  const programs = new Programs(app, services, process.env, options.calls)
  const output = options.output ?? new RecordedOutput(programs, options.log)
  const die = dying(options, output, process.exit.bind(process))
  patches.defer(() => syncBuiltinESMExports())
  patchOutput(output, patches)
  if (!thisThread.isMain) patchFolder(programs, patches)
  patchEnvironment(programs, patches)
  patches.use(inheritCalls(() => inherited(programs)))
  isolateSecondCopies(services, patches)
  captureListen(programs, patches, options.paths)
  watchFaults(programs, die, patches)
  patchExit(programs, output, patches)
  patchProcessEvents(programs, patches)
  // For `import { exit } from 'node:process'`, whose bindings were set when the module was first loaded.
  syncBuiltinESMExports()
  return { programs, output, log: options.log, paths: options.paths, die, [Symbol.dispose]: () => patches.dispose() }
}

function inherited({ current }: Programs): InheritedCalls | undefined {
  const access = current?.env[callsVariable]
  return access === undefined ? undefined : { access, hops: currentScope()?.hops ?? 0 }
}

/** A process has its program's folder as its own. */
function patchFolder(programs: Programs, patches: DisposableStack): void {
  const options = {
    folder: () => programs.suspect?.folder,
    enter: (folder: string) => {
      const program = programs.suspect
      if (program !== undefined) program.folder = folder
    },
    isVirtual: (server: Server) => programs.current !== undefined && isHttpServer(server),
  }
  followFolder(options, patches)
}

function dying(options: HostingOptions, output: Output, exit: (code: number) => void): (end: ProgramEnd) => void {
  return ({ reason, error, exitCode }) => {
    output.flush()
    options.fault({ type: 'fault', service: error.service, reason, error: error.toRecord() })
    const end = options.exit ?? exit
    end(exitCode)
  }
}
