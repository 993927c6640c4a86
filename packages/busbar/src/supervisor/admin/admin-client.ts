import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { BusbarError } from '../../contract/errors.ts'
import type { AppStatus } from '../../observe/status.ts'

/** The app's supervisor answers from memory: one that takes longer is stuck, or stopped by a signal. */
const patience = 2000

/** Asks a running app. Rejects with DEADLINE_EXCEEDED, or with Node's error where nobody listens. */
export async function askStatus(socketPath: string): Promise<AppStatus> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const signal = AbortSignal.timeout(patience)
  request({ socketPath, path: '/status', headers: { connection: 'close' }, signal }, resolve)
    .once('error', reject)
    .end()
  try {
    return JSON.parse(await text(await promise)) as AppStatus
  } catch (error) {
    if (!signal.aborted) throw error
    throw new BusbarError('DEADLINE_EXCEEDED', { message: `${socketPath} had not answered after ${patience} ms` })
  }
}
