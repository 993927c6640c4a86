import type { App } from '../config/app.ts'
import { BusbarError } from '../contract/errors.ts'
import type { RunningApp } from '../supervisor/running.ts'
import { announce } from './banner.ts'
import type { Context } from './context.ts'
import { tellKeeper } from './keeper.ts'
import { type Session, openSession } from './session.ts'

/** `busbar start`: runs the app until a signal stops it (0) or it fails (1). */
export async function start(context: Context): Promise<number> {
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

async function run(app: App, session: Session, { terminal }: Context): Promise<number> {
  const began = performance.now()
  const running = await session.startApp(app, 'start')
  if (running === undefined) return 0
  announce(running, { terminal, log: session.log, took: performance.now() - began })
  tellKeeper(app)
  return untilEnd(running, session)
}

/** Stops the app when a signal wishes so; throws the error of an app that fails. */
export async function untilEnd(running: RunningApp, session: Session): Promise<number> {
  const stopping = session.stopWish.then(() => running.stop())
  const reason = await running.ended
  if (reason.why === 'failed') throw reason.error
  await stopping
  session.sayStopped(running)
  return 0
}
