import { constants } from 'node:os'
import { thisThread } from '../../shared/this-thread.ts'
import { replace } from '../../shared/replace.ts'
import type { ProgramProcess } from './program-process.ts'
import type { Programs } from './programs.ts'
import { SystemSignals } from './system-signals.ts'

/**
 * Keeps the handlers that a program registers on `process` to itself. Threads get no signals, and a fault handler of
 * one program must not rule over its neighbours; the host runs them when their program is meant.
 */
export function patchProcessEvents(programs: Programs, patches: DisposableStack): void {
  const system = patches.use(new SystemSignals())
  for (const method of registering) patchMethod(programs, patches, method, system)
  for (const method of asking) patchMethod(programs, patches, method)
  patchEventNames(programs, patches)
  patchRemoveAll(programs, patches, system)
  patchEmit(programs, patches)
  patchKill(programs, patches)
}

const registering = [
  'on',
  'addListener',
  'once',
  'prependListener',
  'prependOnceListener',
  'off',
  'removeListener',
] as const
const asking = ['listeners', 'rawListeners', 'listenerCount'] as const

type Emitting = Record<(typeof registering)[number] | (typeof asking)[number], (...args: unknown[]) => unknown> & {
  emit(event: string | symbol, ...args: unknown[]): boolean
  eventNames(): (string | symbol)[]
  removeAllListeners(event?: string | symbol): unknown
  kill(pid: number, signal?: string | number): true
}
const emitting = process as unknown as Emitting

const faultEvents = new Set<unknown>(['uncaughtException', 'uncaughtExceptionMonitor', 'unhandledRejection', 'exit'])

/** Of a channel to a parent, the last one Node's own: in a process of Busbar's they are those of Busbar's channel. */
const parentEvents = new Set<unknown>(['message', 'disconnect', 'internalMessage'])

function isSignal(event: unknown): event is NodeJS.Signals {
  return typeof event === 'string' && Object.hasOwn(constants.signals, event)
}

function isOwn(event: unknown): boolean {
  return faultEvents.has(event) || parentEvents.has(event) || isSignal(event)
}

function patchMethod(
  programs: Programs,
  patches: DisposableStack,
  method: keyof Emitting & keyof ProgramEvents,
  system?: SystemSignals,
): void {
  replace(patches, emitting, method, (original) => (...args: unknown[]) => {
    const program = isOwn(args[0]) ? programs.current : undefined
    const target: unknown = program === undefined ? process : program.events
    const call = program === undefined ? original : (program.events as unknown as Emitting)[method]
    const result: unknown = Reflect.apply(call as (...args: unknown[]) => unknown, target, args)
    if (program !== undefined && isSignal(args[0])) system?.update(program, args[0])
    return result === target ? process : result
  })
}

type ProgramEvents = ProgramProcess['events']

function patchRemoveAll(programs: Programs, patches: DisposableStack, system: SystemSignals): void {
  replace(patches, emitting, 'removeAllListeners', (original) => (...args) => {
    const program = args.length === 0 || isOwn(args[0]) ? programs.current : undefined
    if (program === undefined) {
      Reflect.apply(original, process, args)
      return process
    }
    program.events.removeAllListeners(...(args as [string]))
    system.updateAll(program)
    return process
  })
}

/** Its own, and of the others those that the host does not listen to for all. */
function patchEventNames(programs: Programs, patches: DisposableStack): void {
  replace(patches, emitting, 'eventNames', (original) => () => {
    const names = Reflect.apply(original, process, [])
    const program = programs.current
    return program === undefined ? names : [...names.filter((name) => !isOwn(name)), ...program.events.eventNames()]
  })
}

/** Not exit, nor faults of which Node tells, which it does through here with two arguments: the host listens to those. */
function patchEmit(programs: Programs, patches: DisposableStack): void {
  replace(patches, emitting, 'emit', (original) => (event, ...args) => {
    const isFault = event !== 'exit' && faultEvents.has(event) && args.length < 2
    const program = isFault || parentEvents.has(event) || isSignal(event) ? programs.current : undefined
    if (program === undefined) return Reflect.apply(original, process, [event, ...args])
    return program.emit(event, ...args)
  })
}

/** A program that signals itself means itself: from a thread the signal would reach the supervisor, which shares the process id. */
function patchKill(programs: Programs, patches: DisposableStack): void {
  replace(patches, emitting, 'kill', (original) => (pid, signal = 'SIGTERM') => {
    const program = pid === process.pid ? programs.current : undefined
    if (program === undefined || signal === 0) return Reflect.apply(original, process, [pid, signal])
    const [name, number] = signalOf(signal)
    if (name === undefined || harmless.has(name)) return true
    if (thisThread.isMain && untakable.has(name)) return Reflect.apply(original, process, [pid, name])
    if (!program.emit(name, name, number)) program.exit(128 + number)
    return true
  })
}

/** No process takes them: where the program has one of its own, the system does as it says. */
const untakable = new Set<string>(['SIGKILL', 'SIGSTOP'])

/** Their default is to do nothing. */
const harmless = new Set<string>(['SIGCHLD', 'SIGCONT', 'SIGURG', 'SIGWINCH', 'SIGPIPE'])

function signalOf(signal: string | number): [name: string | undefined, number: number] {
  const found = Object.entries(constants.signals).find(([name, number]) => name === signal || number === signal)
  return found ?? [undefined, 0]
}
