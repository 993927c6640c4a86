import { connect } from 'node:net'

/** A program that is given `localhost` may listen at either of them only. */
const hosts = ['127.0.0.1', '::1'] as const
export type LoopbackHost = (typeof hosts)[number]

/** Milliseconds. */
const connectTimeout = 5000

export function addressOn(host: LoopbackHost, port: number): string {
  return host === '::1' ? `[${host}]:${port}` : `${host}:${port}`
}

/**
 * Where something accepts connections at this port of the loopback interface; 127.0.0.1 if at both.
 * Rejects if nothing does.
 */
export async function listeningHost(port: number): Promise<LoopbackHost> {
  const reasons: unknown[] = []
  for (const host of hosts) {
    try {
      await accepts(host, port)
      return host
    } catch (error) {
      reasons.push(error)
    }
  }
  throw reasons[0]
}

async function accepts(host: LoopbackHost, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect({ port, host, timeout: connectTimeout })
  socket.once('connect', () => resolve())
  socket.once('timeout', () => reject(new Error(`port ${port} does not answer`)))
  socket.once('error', () => reject(new Error(`nothing listens at ${addressOn(host, port)}`)))
  await promise.finally(() => socket.destroy())
}
