import type { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StopTimes } from '../../shared/time/stop-times.ts'
import { KeepAliveConnections } from './servers/keep-alive-connections.ts'
import { OpenHandles, type ThreadWork } from './open-handles.ts'
import { ProgramExit, faultOf, type ProgramProcess } from './process/program-process.ts'
import type { ServedConnections } from './servers/served-connections.ts'

/** Milliseconds in which a program's signal handlers may close its servers before Busbar does. */
const handlerGrace = 1_000

export interface StopOptions extends StopTimes {
  readonly program: ProgramProcess
  readonly work: ThreadWork
  readonly servers: ReadonlySet<Server>
  readonly connections: ServedConnections
  /** Resolves when the program calls `process.exit()` or has an unhandled fault. */
  readonly exited: Promise<void>
  /** Closes the WebSockets that are left, and resolves when they have ended. */
  readonly endWebSockets: () => Promise<void>
  /** Runs a function in the program's scope and async context. */
  readonly enter: <R>(run: () => R) => R
}

/**
 * Stops a program as a process manager stops its process, without affecting other programs of the
 * thread: drains keep-alive connections, runs the signal handlers, closes the servers, and runs the
 * `exit` handlers last. Draining comes first because most signal handlers close the server, and
 * `close()` destroys idle connections. The caller destroys the connections that remain.
 */
export async function stopProgram(options: StopOptions): Promise<void> {
  const { program, work, servers, exited, timeout, enter } = options
  const over = new AbortController()
  using handles = new OpenHandles(program.service.name, work)
  const deadline = delay(timeout, over.signal)
  const closed = Promise.all([...servers].map(untilClosed))
  const connections = new KeepAliveConnections(options)
  const quiet = Math.min(options.quiet, timeout / 4)
  const { sessions } = options.connections
  await enter(() => Promise.all([connections.drain(), sessions.drain({ quiet, timeout })]))
  const handled = enter(() => runSignalHandlers(program))
  if (handled !== undefined) {
    await Promise.race([exited, closed, delay(Math.min(handlerGrace, timeout / 2), over.signal), deadline])
  }
  enter(() => servers.forEach((server) => server.listening && server.close()))
  // When the whole app stops, their clients gain nothing by more time.
  if (options.webSockets?.code === 1001) void options.endWebSockets()
  const closing = new AbortController()
  const closingIdle = connections.closeWhenIdle(closing.signal, enter)
  await Promise.race([closed, deadline])
  closing.abort()
  await closingIdle
  // They do not keep a server from closing whose connections were handed over to it.
  await Promise.race([options.endWebSockets(), exited, deadline])
  // Work that the handlers began, such as writing out a buffer, is done when no handle is left
  // open.
  const cleaned = handled?.then(() => handles.untilNone(over.signal))
  await Promise.race([cleaned, exited, deadline])
  over.abort()
  enter(() => program.emitExit(0))
}

/**
 * Resolves when the promises that handlers return are settled. Undefined if there are no handlers.
 */
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
    // A server that the program has closed already does not emit 'close' again.
    if (!server.listening) server.getConnections((_, open) => open === 0 && resolve())
  })
}

/** Also resolves at the end of the stop, so that no timer is left behind. */
function delay(milliseconds: number, over: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, { signal: over }).catch(() => {})
}
