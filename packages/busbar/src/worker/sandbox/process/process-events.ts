import { constants } from 'node:os'
import { thisThread } from '../../../shared/process/this-thread.ts'
import { replaceProperty } from '../../../shared/process/replace-property.ts'
import type { ProgramProcess } from './program-process.ts'
import type { Programs } from './programs.ts'
import { SystemSignals } from './system-signals.ts'

/**
 * Gives each program its own handlers on `process`. Threads receive no signals, and a program's
 * fault handlers must not handle faults of others. Busbar calls the handlers of the program
 * concerned.
 */
export function patchProcessEvents(programs: Programs, patches: DisposableStack): void {
  const system = patches.use(new SystemSignals())
  for (const method of registrationMethods) patchMethod(programs, patches, method, system)
  for (const method of queryMethods) patchMethod(programs, patches, method)
  patchEventNames(programs, patches)
  patchRemoveAll(programs, patches, system)
  patchEmit(programs, patches)
  patchKill(programs, patches)
}

const registrationMethods = [
  'on',
  'addListener',
  'once',
  'prependListener',
  'prependOnceListener',
  'off',
  'removeListener',
] as const
const queryMethods = ['listeners', 'rawListeners', 'listenerCount'] as const

type ProcessEmitter = Record<
  (typeof registrationMethods)[number] | (typeof queryMethods)[number],
  (...args: unknown[]) => unknown
> & {
  emit(event: string | symbol, ...args: unknown[]): boolean
  eventNames(): (string | symbol)[]
  removeAllListeners(event?: string | symbol): unknown
  kill(pid: number, signal?: string | number): true
}
const processEmitter = process as unknown as ProcessEmitter

const faultEvents = new Set<unknown>(['uncaughtException', 'uncaughtExceptionMonitor', 'unhandledRejection', 'exit'])

/**
 * Events of an IPC channel, `internalMessage` undocumented. In a worker process it is Busbar's
 * channel.
 */
const channelEvents = new Set<unknown>(['message', 'disconnect', 'internalMessage'])

function isSignal(event: unknown): event is NodeJS.Signals {
  return typeof event === 'string' && Object.hasOwn(constants.signals, event)
}

function isPerProgram(event: unknown): boolean {
  return faultEvents.has(event) || channelEvents.has(event) || isSignal(event)
}

function patchMethod(
  programs: Programs,
  patches: DisposableStack,
  method: keyof ProcessEmitter & keyof ProgramEvents,
  system?: SystemSignals,
): void {
  replaceProperty(patches, processEmitter, method, (original) => (...args: unknown[]) => {
    const program = isPerProgram(args[0]) ? programs.current : undefined
    const target: unknown = program === undefined ? process : program.events
    const call = program === undefined ? original : (program.events as unknown as ProcessEmitter)[method]
    const result: unknown = Reflect.apply(call as (...args: unknown[]) => unknown, target, args)
    if (program !== undefined && isSignal(args[0])) system?.update(program, args[0])
    return result === target ? process : result
  })
}

type ProgramEvents = ProgramProcess['events']

function patchRemoveAll(programs: Programs, patches: DisposableStack, system: SystemSignals): void {
  replaceProperty(patches, processEmitter, 'removeAllListeners', (original) => (...args) => {
    const program = args.length === 0 || isPerProgram(args[0]) ? programs.current : undefined
    if (program === undefined) {
      Reflect.apply(original, process, args)
      return process
    }
    program.events.removeAllListeners(...(args as [string]))
    system.updateAll(program)
    return process
  })
}

/** The program's own events, and the thread's events that are not handled per program. */
function patchEventNames(programs: Programs, patches: DisposableStack): void {
  replaceProperty(patches, processEmitter, 'eventNames', (original) => () => {
    const names = Reflect.apply(original, process, [])
    const program = programs.current
    return program === undefined
      ? names
      : [...names.filter((name) => !isPerProgram(name)), ...program.events.eventNames()]
  })
}

/**
 * Events that a program emits itself go to its own handlers. Node also emits 'exit' and faults
 * through here, faults with two arguments: Busbar listens to those.
 */
function patchEmit(programs: Programs, patches: DisposableStack): void {
  replaceProperty(patches, processEmitter, 'emit', (original) => (event, ...args) => {
    const isFault = event !== 'exit' && faultEvents.has(event) && args.length < 2
    const program = isFault || channelEvents.has(event) || isSignal(event) ? programs.current : undefined
    if (program === undefined) return Reflect.apply(original, process, [event, ...args])
    return program.emit(event, ...args)
  })
}

/**
 * A signal that a program sends to itself ends that program. From a thread the real one would reach
 * the supervisor, which has the same process id.
 */
function patchKill(programs: Programs, patches: DisposableStack): void {
  replaceProperty(patches, processEmitter, 'kill', (original) => (pid, signal = 'SIGTERM') => {
    const program = pid === process.pid ? programs.current : undefined
    if (program === undefined || signal === 0) return Reflect.apply(original, process, [pid, signal])
    const [name, number] = signalOf(signal)
    if (name === undefined || ignoredByDefault.has(name)) return true
    if (thisThread.isMain && uncatchable.has(name)) return Reflect.apply(original, process, [pid, name])
    if (!program.emit(name, name, number)) program.exit(128 + number)
    return true
  })
}

/** No process can handle these. A program with a process of its own gets the real signal. */
const uncatchable = new Set<string>(['SIGKILL', 'SIGSTOP'])

const ignoredByDefault = new Set<string>(['SIGCHLD', 'SIGCONT', 'SIGURG', 'SIGWINCH', 'SIGPIPE'])

function signalOf(signal: string | number): [name: string | undefined, number: number] {
  const found = Object.entries(constants.signals).find(([name, number]) => name === signal || number === signal)
  return found ?? [undefined, 0]
}
