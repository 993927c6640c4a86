import type { Session } from 'node:inspector/promises'
import { settlesWithin } from '../../../shared/time/settles-within.ts'
import { type DebuggerChannel, pausedStack } from './paused-stack.ts'

/** Milliseconds. */
const attachTimeout = 1000

/**
 * The stack that a thread of this process executes, whatever its event loop does. Undefined if it
 * does not execute JavaScript. The debugger is attached for this moment only: until then nothing is
 * slower.
 */
export async function threadStack(threadId: number): Promise<readonly string[] | undefined> {
  // A Node may be built without it.
  const inspector = await import('node:inspector/promises').catch(() => undefined)
  if (inspector === undefined) return undefined
  const session = new inspector.Session()
  session.connect()
  try {
    const id = await attach(session, threadId)
    return id === undefined ? undefined : await pausedStack(channelTo(session, id))
  } catch {
    return undefined
  } finally {
    session.disconnect()
  }
}

/**
 * Resolves to the ID of the session with the thread, or to undefined if there is no such thread.
 */
async function attach(session: Session, threadId: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string>()
  session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
    // The title is all that identifies a thread.
    if (workerInfo.title.startsWith(`[worker ${threadId}]`)) resolve(sessionId)
  })
  await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  return (await settlesWithin(attachTimeout, [promise])) ? await promise : undefined
}

function channelTo(session: Session, sessionId: string): DebuggerChannel {
  const channel: DebuggerChannel = {
    send: (message) => void session.post('NodeWorker.sendMessageToWorker', { sessionId, message }).catch(() => {}),
    receive: () => {},
  }
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    if (params.sessionId === sessionId) channel.receive(params.message)
  })
  return channel
}
