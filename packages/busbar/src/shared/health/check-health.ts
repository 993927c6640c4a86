import { request } from 'node:http'
import type { Socket } from 'node:net'
import type { HealthCheck } from '../app/supervision.ts'

/** How one instance is reached, by a connection for each check. */
export interface HealthTarget {
  readonly service: string
  readonly connect: () => Socket
}

/**
 * Milliseconds by which a timer may be late. If it is later, this thread itself was blocked, and
 * the instance in it, too: the heartbeat reports that. The check then gets its time anew.
 */
const lateBy = 100

/**
 * Sends one request. Resolves to why the check failed, or to undefined if it passed. Rejects with
 * the signal's reason.
 */
export async function checkHealth(
  { service, connect }: HealthTarget,
  { path, timeout }: Pick<HealthCheck, 'path' | 'timeout'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  signal.throwIfAborted()
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const sent = request({
    path,
    // Without an agent, the connection is closed after the response.
    createConnection: connect,
    headers: { host: `${service}.internal`, 'user-agent': 'busbar-health' },
    signal,
  })
  const endTimer = startTimer(timeout, () => {
    resolve(`no answer within ${timeout} ms`)
    sent.destroy()
  })
  sent
    .on('response', (response) => {
      // The timer stays: a response that does not end must not keep the connection.
      response.resume().on('error', () => {})
      const { statusCode = 0 } = response
      resolve(statusCode >= 200 && statusCode < 400 ? undefined : `status ${statusCode}`)
    })
    .on('error', (error) => resolve(error.message))
    .on('close', endTimer)
    .end()
  const failure = await promise
  signal.throwIfAborted()
  return failure === undefined ? undefined : `GET ${path}: ${failure}`
}

/** Calls `onTimeout` after `timeout` milliseconds in which this thread ran. */
function startTimer(timeout: number, onTimeout: () => void): () => void {
  let timer: NodeJS.Timeout
  const start = (): void => {
    const due = performance.now() + timeout
    timer = setTimeout(() => (performance.now() > due + lateBy ? start() : onTimeout()), timeout)
    timer.unref()
  }
  start()
  return () => clearTimeout(timer)
}
