import { BusbarError } from '../../errors.ts'
import type { GrpcAddress, GrpcTls } from './grpc-options.ts'
import { http2Module, type Http2Session, type Http2Stream } from './node-modules.ts'

type State =
  | { readonly is: 'idle' }
  | { readonly is: 'open'; readonly session: Http2Session; readonly connected: Promise<void> }
  | { readonly is: 'closed' }

/** In milliseconds. */
const connectTimeout = 20_000
const pingInterval = 30_000
const pingTimeout = 20_000
const windowSize = 1024 * 1024

/**
 * The connection of one client, for all of its calls. It is opened by the first one, and again
 * after it was lost or the server has said that it goes away. While no call is in flight, it does
 * not keep the process alive.
 */
export class GrpcSession {
  readonly #address: GrpcAddress
  readonly #tls: GrpcTls | undefined
  #state: State = { is: 'idle' }
  #inFlight = 0

  constructor(address: GrpcAddress, tls: GrpcTls | undefined) {
    this.#address = address
    this.#tls = tls
  }

  /**
   * Rejects with SERVICE_UNAVAILABLE if there is no connection: then nothing was sent. `signal`:
   * resets the stream.
   */
  async request(headers: Readonly<Record<string, string>>, service: string, signal: AbortSignal): Promise<Http2Stream> {
    this.#ref(1)
    try {
      const session = await this.#connected(service)
      const stream = session.request(headers, { signal })
      stream.once('close', () => this.#ref(-1))
      return stream
    } catch (error) {
      this.#ref(-1)
      throw BusbarError.is(error) ? error : unavailable(service, this.#address, error as Error)
    }
  }

  async close(): Promise<void> {
    const state = this.#state
    this.#state = { is: 'closed' }
    if (state.is === 'open') state.session.destroy()
  }

  async #connected(service: string): Promise<Http2Session> {
    if (this.#state.is === 'closed')
      throw new BusbarError('CALL_ABORTED', { message: `the client of ${service} is closed`, service })
    // Node closes a session whose frame could not be sent, such as a head that is too large.
    if (this.#state.is === 'idle' || this.#state.session.closed) this.#state = this.#open()
    const { session, connected } = this.#state
    await connected
    return session
  }

  #open(): Extract<State, { is: 'open' }> {
    const session = http2Module().connect(this.#address.authority, {
      ...this.#tls,
      settings: { enablePush: false, initialWindowSize: windowSize },
    })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const limit = setTimeout(() => session.destroy(new Error('the connection was not open in time')), connectTimeout)
    const alive = setInterval(() => this.#inFlight > 0 && ping(session), pingInterval)
    unref(alive)
    const gone = (): void => {
      if (this.#state.is === 'open' && this.#state.session === session) this.#state = { is: 'idle' }
    }
    // Every server of HTTP/2 begins with them: what does not is none.
    session.once('remoteSettings', () => {
      clearTimeout(limit)
      session.setLocalWindowSize(windowSize)
      if (this.#inFlight === 0) session.unref()
      resolve()
    })
    session.on('error', (error) => reject(error))
    // The calls in flight end as usual; the next one opens another connection.
    session.once('goaway', gone)
    session.once('close', () => {
      clearTimeout(limit)
      clearInterval(alive)
      gone()
      reject(new Error('the connection was closed'))
    })
    promise.catch(() => {})
    return { is: 'open', session, connected: promise }
  }

  #ref(by: 1 | -1): void {
    this.#inFlight += by
    if (this.#state.is !== 'open' || this.#state.session.destroyed) return
    if (this.#inFlight === 0) this.#state.session.unref()
    else this.#state.session.ref()
  }
}

/** Without pings, calls to a server that vanished without closing would never end. */
function ping(session: Http2Session): void {
  if (session.destroyed) return
  const dead = setTimeout(() => session.destroy(), pingTimeout)
  unref(dead)
  if (!session.ping(() => clearTimeout(dead))) clearTimeout(dead)
}

/** In browsers timers are numbers; the types here hold for both. */
function unref(timer: unknown): void {
  if (typeof timer === 'object') (timer as { unref(): void }).unref()
}

function unavailable(service: string, { authority }: GrpcAddress, cause: Error): BusbarError {
  const address = authority.replace(/^http/, 'grpc')
  const message = `${service} could not be reached at ${address}: ${cause.message}`
  return new BusbarError('SERVICE_UNAVAILABLE', { message, service, cause })
}
