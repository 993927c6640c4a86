import type { ProgramProcess } from './program-process.ts'
import type { Programs } from './programs.ts'

type Send = NonNullable<typeof process.send>

/**
 * Gives programs with `ready: 'signal'` a `process.send`, by which programs of PM2 say that they
 * are ready. Other programs see none, as under plain `node`: they would take it for an IPC channel.
 */
export function patchReadySignal(programs: Programs, patches: DisposableStack): void {
  if (![...programs].some(signals)) return
  const before = Object.getOwnPropertyDescriptor(process, 'send')
  /** Values that programs have assigned. */
  const assigned = new Map<ProgramProcess, unknown>()
  Object.defineProperty(process, 'send', {
    configurable: true,
    enumerable: true,
    get: () => {
      const program = programs.current
      if (program === undefined) return undefined
      return assigned.has(program) ? assigned.get(program) : signals(program) ? sendOf(program) : undefined
    },
    set: (value: unknown) => {
      if (programs.current !== undefined) assigned.set(programs.current, value)
    },
  })
  patches.defer(() => {
    if (before === undefined) delete process.send
    else Object.defineProperty(process, 'send', before)
  })
}

function signals({ service }: ProgramProcess): boolean {
  return service.ready === 'signal'
}

/** Nobody receives other messages: they are accepted and dropped. */
function sendOf(program: ProgramProcess): Send {
  return (message: unknown, ...rest: unknown[]): boolean => {
    if (message === 'ready') program.signalReady()
    const callback = rest.findLast((one) => typeof one === 'function') as ((error: Error | null) => void) | undefined
    if (callback !== undefined) process.nextTick(callback, null)
    return true
  }
}
