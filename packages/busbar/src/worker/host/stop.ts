import type { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { PendingWatch } from './pending.ts'
import { ProgramExit, faultOf, type ProgramProcess } from './program-process.ts'

/** How long a program's handlers may take until they have closed their server or exited, before we close it. */
const handlerGrace = 1_000
/** A connection turns idle when its answer is out: looked for this often, since Node says so to nobody. */
const idleInterval = 25

/**
 * Stops a program as a process manager would stop its process, and takes nobody else of the thread along: its signal
 * handlers first, then `servers`, its `exit` handlers last. Must run in the program's scope, in phase `stopping`;
 * `exited` resolves when it calls `process.exit()` or breaks.
 */
export async function stopProgram(
  program: ProgramProcess,
  servers: ReadonlySet<Server>,
  exited: Promise<void>,
  timeout: number,
): Promise<void> {
  const over = new AbortController()
  using watch = new PendingWatch(program.service.name)
  const deadline = rest(timeout, over.signal)
  const closed = Promise.all([...servers].map(untilClosed))
  const handled = runSignalHandlers(program)
  if (handled !== undefined) {
    await Promise.race([exited, closed, rest(Math.min(handlerGrace, timeout / 2), over.signal), deadline])
  }
  for (const server of servers) closeGracefully(server, over.signal)
  await Promise.race([closed, deadline])
  // What its handlers began, such as writing out a buffer, ends when nothing they opened is left.
  const cleaned = handled?.then(() => watch.untilIdle(over.signal))
  await Promise.race([cleaned, exited, deadline])
  over.abort()
  program.emitExit(0)
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

interface ClosingServer extends Server {
  /** Of `http` and `https`; `http2` ends its sessions in `close()`. */
  closeIdleConnections?(): void
}

function closeGracefully(server: ClosingServer, over: AbortSignal): void {
  // Whoever keeps a connection open is told with the next answer.
  server.prependListener('request', (_request: unknown, response: { shouldKeepAlive: boolean }) => {
    response.shouldKeepAlive = false
  })
  if (server.listening) server.close()
  const timer = setInterval(() => server.closeIdleConnections?.(), idleInterval)
  for (const target of [server, over] as const) once(target, () => clearInterval(timer))
}

function once(target: Server | AbortSignal, run: () => void): void {
  if (target instanceof AbortSignal) target.addEventListener('abort', run, { once: true })
  else target.once('close', run)
}

/** Ends with the stop, which leaves no timer behind. */
function rest(delay: number, over: AbortSignal): Promise<void> {
  return sleep(delay, undefined, { signal: over }).catch(() => {})
}
