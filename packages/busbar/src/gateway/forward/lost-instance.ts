import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ErrorRecord } from '../../contract/errors.ts'
import type { RemoteEndpoint, TcpEndpoint } from '../../mesh/routing/endpoint.ts'
import type { Link } from '../../mesh/links/link.ts'

/**
 * Milliseconds to wait, after a connection has broken, for the worker to respond on its link or for
 * the link to close.
 */
const lostCallTimeout = 2000

/** Milliseconds for which a new connection to a command must last. */
const probeTime = 20

/** Why the worker behind `link` is lost. Undefined if it responds, or does not in time. */
export async function lossOfWorker(link: Link): Promise<ErrorRecord | undefined> {
  await Promise.race([link.acknowledged(), sleep(lostCallTimeout, undefined, { ref: false })])
  return link.state === 'closed' ? await link.failure : undefined
}

/**
 * Why the instance is lost whose connection has broken with `failure`. Undefined if it lives, as
 * far as can be told.
 */
export async function lossOf(endpoint: RemoteEndpoint | TcpEndpoint, failure: Error): Promise<ErrorRecord | undefined> {
  if (endpoint.at === 'link') return await lossOfWorker(endpoint.link)
  const isLost = wasRefused(failure) || !(await answers(endpoint))
  const { service } = endpoint
  return isLost ? { code: 'SERVICE_HANGUP', message: `service '${service}' has ended`, service } : undefined
}

/** The connection was never made, so the instance has seen nothing of the request. */
export function wasRefused({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNREFUSED'
}

/**
 * A command has no link that would tell. Its port refuses connections as soon as it has ended, or
 * accepts one that then breaks while its process ends.
 */
async function answers({ host, port }: TcpEndpoint): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port })
  socket.once('connect', () => setTimeout(resolve, probeTime, true))
  // Without a listener an error would be thrown; `close` follows it.
  socket.on('error', () => {}).once('close', () => resolve(false))
  const result = await promise
  socket.destroy()
  return result
}
