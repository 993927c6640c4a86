/** A worker process's IPC channel to the supervisor. Hidden from the program that it hosts. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Socket } from 'node:net'
import type { FromWorker, ToWorker, ProcessInit } from '../shared/control-messages.ts'
import { currentScope } from '../mesh/scope.ts'

export type ProcessOrder = ToWorker | { type: 'init'; init: ProcessInit }

/** The documented properties. Node also keeps some of them with a leading underscore. */
const channelProperties = new Set(['channel', 'connected', 'disconnect', 'send'])

const outsideAnyScope = AsyncLocalStorage.snapshot()

/**
 * Takes the IPC channel for Busbar and returns the function that sends to the supervisor. Programs
 * see no IPC channel, as under plain `node`. A `message` event that a program emits on `process` or
 * listens for is its own. Node's own code runs in no program's scope and still sees the channel.
 */
export function claimControlChannel(
  receive: (order: ProcessOrder, socket: Socket | undefined) => void,
  disconnected: () => void,
): (message: FromWorker) => void {
  const send = process.send!.bind(process) as (message: FromWorker) => void
  const emit = process.emit.bind(process) as Emit
  process.emit = ((event, ...args) => {
    if (currentScope() !== undefined) return emit(event, ...args)
    if (event === 'disconnect') disconnected()
    else if (event === 'message') receive(args[0] as ProcessOrder, args[1] as Socket | undefined)
    else return emit(event, ...args)
    return true
  }) as typeof process.emit
  // Node delivers no messages, and the channel does not keep the process alive, without a listener.
  process.on('message', () => {})
  hideChannel()
  return (message) => outsideAnyScope(send, message)
}

type Emit = (event: string | symbol, ...args: unknown[]) => boolean

function hideChannel(): void {
  // Node's own code does not use `process.send`.
  delete process.send
  for (const name of Object.getOwnPropertyNames(process))
    if (channelProperties.has(name.replace(/^_/, ''))) hideProperty(name)
}

/** A program may set a property of this name and then sees its own value. */
function hideProperty(name: string): void {
  const real = Object.getOwnPropertyDescriptor(process, name)!
  const ofPrograms: Record<string, unknown> = {}
  const ofNode: Record<string, unknown> = {}
  Object.defineProperty(ofNode, name, real)
  const visible = (): Record<string, unknown> => (currentScope() === undefined ? ofNode : ofPrograms)
  Object.defineProperty(process, name, {
    configurable: true,
    enumerable: false,
    get: () => visible()[name],
    set: (value) => {
      visible()[name] = value
    },
  })
}
