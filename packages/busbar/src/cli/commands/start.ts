import type { App } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import { loadAdminApi } from '../../supervisor/admin/admin.ts'
import type { RunningApp } from '../../supervisor/running-app.ts'
import { addressesOf } from '../../supervisor/admin/operations/describe.ts'
import { announce, entranceOf } from '../terminal/banner.ts'
import type { CommandContext } from '../command.ts'
import { limitCompileCache } from '../background/compile-cache-limit.ts'
import { reportRestarting, reportServing } from '../background/process-messages.ts'
import { type Session, openSession } from '../session.ts'

/** Milliseconds: the app serves, and its first requests have been answered. */
const wait = 5000

/**
 * Collects once what the start has left in the heap: modules, the config, their compilation. An
 * idle supervisor allocates too little to come to a collection, and would keep 24 MB
 * (`scripts/operations/idle.ts`). It takes some 20 ms. Before that, loads what may not exist later
 * and limits the compile cache, which leave their own garbage. Returns a function that prevents it.
 */
function tidyAfterStart({ admin }: App, env: NodeJS.ProcessEnv): () => void {
  // Loading takes some 50 ms, and the first scrape of a port may come within the next seconds.
  if (admin !== undefined) void loadAdminApi().catch(() => {})
  const timer = setTimeout(() => void tidy(env), wait).unref()
  return () => clearTimeout(timer)
}

async function tidy(env: NodeJS.ProcessEnv): Promise<void> {
  // Its files may have been replaced when it is first needed: by an update of Busbar.
  await loadAdminApi().catch(() => {})
  await limitCompileCache(env)
  // A Node can be built without an inspector, and permissions can forbid it: the memory stays.
  await collect().catch(() => {})
}

/** By the DevTools protocol, which needs no flag of V8. */
async function collect(): Promise<void> {
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  try {
    await session.post('HeapProfiler.collectGarbage')
  } finally {
    session.disconnect()
  }
}

/** `busbar start`: runs the app until a signal stops it (0) or it fails (1). */
export async function start(context: CommandContext): Promise<number> {
  const session = openSession(context)
  try {
    const app = await session.loadApp()
    return await run(app, session, context)
  } catch (error) {
    session.report(error)
    return BusbarError.from(error).exitCode
  } finally {
    await session.close()
  }
}

/** A request to restart the app ends a run, and the next one begins. */
async function run(app: App, session: Session, context: CommandContext): Promise<number> {
  for (let next: App | undefined = app; next !== undefined;) next = await runOnce(next, session, context)
  return 0
}

/** Resolves to the app that is to run next, if any. */
async function runOnce(app: App, session: Session, { terminal }: CommandContext): Promise<App | undefined> {
  const began = performance.now()
  let next: App | undefined
  const running = await session.startApp(app, 'start', (loaded) => {
    next = loaded
    session.log.event('info', 'busbar restart: the whole app stops and starts again')
    reportRestarting()
    void running?.stop()
  })
  if (running === undefined) return undefined
  announce(running, { terminal, log: session.log, took: performance.now() - began })
  reportServing(app, session.command, {
    addresses: addressesOf(running),
    entrance: entranceOf(running.status()),
    page: session.announcePage(running),
  })
  session.systemd.notify('READY=1', `STATUS=serves at ${running.addresses.map(({ url }) => url).join(', ')}`)
  const preventTidying = tidyAfterStart(app, terminal.env)
  await untilEnd(running, session, () => next !== undefined).finally(preventTidying)
  return next
}

/** Stops the app on a signal. Rejects with the error of an app that fails. */
async function untilEnd(running: RunningApp, session: Session, isRestarting: () => boolean): Promise<void> {
  let isStopping = false
  void session.stopRequested.then(() => {
    isStopping = true
    void running.stop()
  })
  const reason = await running.ended
  if (reason.why === 'failed') throw reason.error
  if (isStopping || !isRestarting()) session.announceStopped(running)
}
