import { connect } from 'node:tls'
import { placeOf } from './request-target.ts'

/** Errors of a client of HTTP/1.1 whose server speaks something else, or is not up yet. */
export const looksForeign: RegExp = /^(?:socket hang up|read ECONNRESET|Parse Error)/

/** What a server speaks that does not answer HTTP/1.1 in clear. Undefined if that is not known. */
export async function otherProtocol(address: string, error: string): Promise<string | undefined> {
  if (error.startsWith('Parse Error')) return 'it listens, but does not speak HTTP/1.1'
  return (await speaksTls(address)) ? 'it listens, but speaks TLS, and only HTTP in clear is asked' : undefined
}

async function speaksTls(address: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  // Nothing is sent, so it does not matter who answers.
  const socket = connect({ ...placeOf(address), rejectUnauthorized: false, timeout: 2000 })
  socket.once('secureConnect', () => resolve(true))
  socket.once('timeout', () => resolve(false))
  socket.once('error', () => resolve(false))
  return await promise.finally(() => socket.destroy())
}
