import { channel } from 'node:diagnostics_channel'
import type { MeshContext } from '../../../mesh/mesh-context.ts'
import { undiciChannels } from '../../../mesh/tracing/client-requests.ts'
import { subscribersOf } from '../../../node/subscribers.ts'
import type { UndiciHandler } from './handler-dialects.ts'
import type { DispatchOptions } from './dispatch-request.ts'

export interface Dispatcher {
  dispatch(options: DispatchOptions, handler: UndiciHandler): boolean
}

/**
 * Keys of undici's global dispatchers: 6 and 7 read the first, 8 the second; 7 and 8 write both.
 */
const older = Symbol.for('undici.globalDispatcher.1')
const newer = Symbol.for('undici.globalDispatcher.2')

export type DispatcherSymbol = typeof older | typeof newer

/** Major version of Node's built-in undici. */
export const builtinMajor = Number.parseInt(process.versions['undici'] ?? '7', 10)

type Slots = { [slot in DispatcherSymbol]?: Dispatcher }

const slots = globalThis as Slots
const meshDispatchers = new WeakSet<Dispatcher>()
let seen: readonly [Dispatcher | undefined, Dispatcher | undefined, boolean] | undefined

export const globalDispatchers = {
  symbols: [older, newer] as const,

  /** Loads the built-in undici, which sets both dispatchers if they are not set. */
  get(symbol: DispatcherSymbol): Dispatcher | undefined {
    void globalThis.Response
    return slots[symbol]
  },

  set(symbol: DispatcherSymbol, dispatcher: Dispatcher): void {
    slots[symbol] = dispatcher
  },

  /** The dispatcher that the built-in `fetch` uses. */
  ofBuiltin(): Dispatcher {
    return slots[builtinMajor >= 8 ? newer : older]!
  },

  /** Registers a dispatcher of the mesh. */
  register(dispatcher: Dispatcher): void {
    meshDispatchers.add(dispatcher)
  },

  isMeshDispatcher(dispatcher: Dispatcher): boolean {
    return meshDispatchers.has(dispatcher)
  },

  /**
   * False if a program has set a global dispatcher of its own. It is meant for every call then,
   * also for calls to services.
   */
  areUnchanged(): boolean {
    const first = slots[older]
    const second = slots[newer]
    if (seen === undefined || seen[0] !== first || seen[1] !== second) seen = [first, second, areOfMesh(first, second)]
    return seen[2]
  },
}

function areOfMesh(...dispatchers: (Dispatcher | undefined)[]): boolean {
  return dispatchers.every((dispatcher) => dispatcher === undefined || meshDispatchers.has(dispatcher))
}

/**
 * The channels on which undici publishes its requests, for tracing, which may also add headers, and
 * its connections. An exchange has neither, so a thread with subscribers calls by byte stream.
 */
const channels = [
  'undici:request:bodySent',
  'undici:request:bodyChunkSent',
  'undici:request:bodyChunkReceived',
  'undici:client:sendHeaders',
  'undici:client:beforeConnect',
  'undici:client:connected',
  'undici:client:connectError',
].map((name) => channel(name))

/** The mesh itself subscribes to this channel, for byte streams. */
const created = channel('undici:request:create')
/** With traces, it subscribes to these as well. */
const ended = undiciChannels.map((name) => channel(name))

export const diagnostics = {
  /** True if a program or a tracing library has subscribed. */
  areObserved({ tracer }: MeshContext): boolean {
    for (const one of channels) if (one.hasSubscribers) return true
    if (subscribersOf(created) > 1) return true
    const ofMesh = tracer === undefined ? 0 : 1
    for (const one of ended) if (subscribersOf(one) > ofMesh) return true
    return false
  },
}
