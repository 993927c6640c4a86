import type { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StopTimes } from '../../shared/control.ts'
import { KeptConnections } from './kept-connections.ts'
import { PendingWatch } from './pending.ts'
import { ProgramExit, faultOf, type ProgramProcess } from './program-process.ts'
import type { ServedConnections } from './served-connections.ts'

/** How long a program's handlers may take until they have closed their server or exited, before we close it. */
const handlerGrace = 1_000

export interface Stopping extends StopTimes {
  readonly program: ProgramProcess
  readonly servers: ReadonlySet<Server>
  readonly connections: ServedConnections
  /** Resolves when the program calls `process.exit()` or breaks. */
  readonly exited: Promise<void>
  /** Runs what the program's own handlers may hear of, in its async context. */
  readonly enter: <R>(run: () => R) => R
}

/**
 * Stops a program as a process manager would stop its process, and takes nobody else of the thread along: its signal
 * handlers first, then its servers, its `exit` handlers last. Before them those who keep connections to it are told to go:
 * most handlers close the server, and Node closes all that is idle then. What is left of connections is the caller's to cut.
 */
export async function stopProgram(stopping: Stopping): Promise<void> {
  const { program, servers, exited, timeout, enter } = stopping
  const over = new AbortController()
  using watch = new PendingWatch(program.service.name)
  const deadline = rest(timeout, over.signal)
  const closed = Promise.all([...servers].map(untilClosed))
  const kept = new KeptConnections(stopping)
  await enter(() => kept.drain())
  const handled = enter(() => runSignalHandlers(program))
  if (handled !== undefined) {
    await Promise.race([exited, closed, rest(Math.min(handlerGrace, timeout / 2), over.signal), deadline])
  }
  enter(() => servers.forEach((server) => server.listening && server.close()))
  const closing = new AbortController()
  const idling = kept.closeWhenIdle(closing.signal, enter)
  await Promise.race([closed, deadline])
  closing.abort()
  await idling
  // What its handlers began, such as writing out a buffer, ends when nothing they opened is left.
  const cleaned = handled?.then(() => watch.untilIdle(over.signal))
  await Promise.race([cleaned, exited, deadline])
  over.abort()
  enter(() => program.emitExit(0))
}

/** Undefined where there are none; resolves when those that return a promise are done. */
function runSignalHandlers(program: ProgramProcess): Promise<unknown> | undefined {
  const signal = (['SIGTERM', 'SIGINT'] as const).find((name) => program.events.listenerCount(name) > 0)
  if (signal === undefined) return undefined
  return Promise.all(program.listeners(signal).map((listener) => runHandler(program, listener, signal)))
}

async function runHandler(
  program: ProgramProcess,
  listener: (...args: unknown[]) => unknown,
  signal: 'SIGTERM' | 'SIGINT',
): Promise<void> {
  try {
    await Reflect.apply(listener, process, [signal, signal === 'SIGTERM' ? 15 : 2])
  } catch (thrown) {
    if (!(thrown instanceof ProgramExit)) program.end(faultOf(program.service.name, 'rejection', thrown))
  }
}

function untilClosed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.once('close', resolve)
    // One that the program had closed before says so no more.
    if (!server.listening) server.getConnections((_, open) => open === 0 && resolve())
  })
}

/** Ends with the stop, which leaves no timer behind. */
function rest(delay: number, over: AbortSignal): Promise<void> {
  return sleep(delay, undefined, { signal: over }).catch(() => {})
}
