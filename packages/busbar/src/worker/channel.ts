/** The IPC channel of a process that Busbar started: Busbar's alone, and for a program not there. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Socket } from 'node:net'
import type { FromWorker, ToWorker, ProcessInit } from '../shared/control.ts'
import { currentScope } from '../mesh/scope.ts'

export type ProcessOrder = ToWorker | { type: 'init'; init: ProcessInit }

/** What Node's documentation names; its own code also keeps some of them with an underscore in front. */
const names = new Set(['channel', 'connected', 'disconnect', 'send'])

/** Outside of every program's scope. */
const outside = AsyncLocalStorage.snapshot()

/**
 * Takes the channel away from all code that runs as a program: it finds no parent, as under plain `node`, and what it emits or
 * listens for stays its own. Node's own code runs in no program's scope and goes on using the properties of `process`.
 */
export function takeChannel(
  receive: (order: ProcessOrder, socket: Socket | undefined) => void,
  ended: () => void,
): (message: FromWorker) => void {
  const send = process.send!.bind(process) as (message: FromWorker) => void
  const emit = process.emit.bind(process) as Emit
  process.emit = ((event, ...args) => {
    if (currentScope() !== undefined) return emit(event, ...args)
    if (event === 'disconnect') ended()
    else if (event === 'message') receive(args[0] as ProcessOrder, args[1] as Socket | undefined)
    else return emit(event, ...args)
    return true
  }) as typeof process.emit
  // Node keeps messages back, and the process does not stay for them, until somebody listens.
  process.on('message', () => {})
  hide()
  return (message) => outside(send, message)
}

type Emit = (event: string | symbol, ...args: unknown[]) => boolean

function hide(): void {
  // Nothing but callers of `process.send` needs it.
  delete process.send
  for (const name of Object.getOwnPropertyNames(process)) if (names.has(name.replace(/^_/, ''))) hideProperty(name)
}

/** A program may have one of that name: it sees what it sets. */
function hideProperty(name: string): void {
  const real = Object.getOwnPropertyDescriptor(process, name)!
  const own: Record<string, unknown> = {}
  const target: Record<string, unknown> = {}
  Object.defineProperty(target, name, real)
  const seen = (): Record<string, unknown> => (currentScope() === undefined ? target : own)
  Object.defineProperty(process, name, {
    configurable: true,
    enumerable: false,
    get: () => seen()[name],
    set: (value) => {
      seen()[name] = value
    },
  })
}
