import type { Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { PendingWatch } from './pending.ts'
import { ProgramExit, faultOf, type ProgramProcess } from './program-process.ts'

/** How long a program's handlers may take until they have closed their server or exited, before we close it. */
const handlerGrace = 1_000
/** A connection turns idle when its answer is out: looked for this often, since Node says so to nobody. */
const idleInterval = 25

export interface Stopping {
  readonly program: ProgramProcess
  readonly servers: ReadonlySet<Server>
  /** The connections that it has from the network now. */
  readonly accepted: ReadonlySet<Socket>
  /** Resolves when the program calls `process.exit()` or breaks. */
  readonly exited: Promise<void>
  /** In milliseconds, for all of it. */
  readonly timeout: number
  /** Runs what the program's own handlers may hear of, in its async context. */
  readonly enter: <R>(run: () => R) => R
}

/**
 * Stops a program as a process manager would stop its process, and takes nobody else of the thread along: its signal
 * handlers first, then its servers, its `exit` handlers last. Its connections are the caller's to cut then.
 */
export async function stopProgram(stopping: Stopping): Promise<void> {
  const { program, servers, exited, timeout, enter } = stopping
  const over = new AbortController()
  using watch = new PendingWatch(program.service.name)
  const deadline = rest(timeout, over.signal)
  const closed = Promise.all([...servers].map(untilClosed))
  const handled = enter(() => runSignalHandlers(program))
  if (handled !== undefined) {
    await Promise.race([exited, closed, rest(Math.min(handlerGrace, timeout / 2), over.signal), deadline])
  }
  enter(() => closeGracefully(servers))
  const idling = setInterval(() => enter(() => closeIdle(stopping)), idleInterval)
  await Promise.race([closed, deadline])
  clearInterval(idling)
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

function closeGracefully(servers: ReadonlySet<Server>): void {
  for (const server of servers) {
    // Whoever keeps a connection open is told with the next answer.
    server.prependListener('request', (_request: unknown, response: { shouldKeepAlive: boolean }) => {
      response.shouldKeepAlive = false
    })
    if (server.listening) server.close()
  }
}

/** `http2` ends its sessions in `close()`. Node takes a connection that has sent nothing yet for a busy one. */
function closeIdle({ servers, accepted }: Stopping): void {
  for (const server of servers as ReadonlySet<Server & { closeIdleConnections?(): void }>) {
    server.closeIdleConnections?.()
  }
  for (const socket of accepted) if (socket.bytesRead === 0) socket.destroy()
}

/** Ends with the stop, which leaves no timer behind. */
function rest(delay: number, over: AbortSignal): Promise<void> {
  return sleep(delay, undefined, { signal: over }).catch(() => {})
}
