import { AsyncLocalStorage } from 'node:async_hooks'
import type { Http2Session, ServerHttp2Stream } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds. */
const pollInterval = 25

/** Milliseconds that a client may take to answer a PING. Its new streams wait for that long. */
const longestRoundTrip = 1000

/** Milliseconds without a new stream, before the PING. A client may pause after a response. */
const pause = 10

/**
 * How long a drain waits for a client that keeps opening streams: this many round trips, and at
 * least this many milliseconds.
 */
const mostRoundTrips = 4
const leastWait = 50

/** Bytes of a PING frame. */
const pingSize = 17

export interface Http2DrainTimes {
  /** Milliseconds without a new stream after which a session is closed. */
  readonly quiet: number
  /** Milliseconds that the whole stop may take. */
  readonly timeout: number
}

/** `waiting`: its new streams wait until it is closed. */
type State =
  | { readonly is: 'open' | 'closed' }
  | { readonly is: 'waiting'; streams: number; readonly closed: Promise<void> }

/**
 * The sessions of a program's `http2` servers. A GOAWAY of Node refuses the streams that are on
 * their way, whatever last stream it names: nghttp2 ignores all that arrive after it, and Node has
 * no method for the notice that RFC 9113, 6.8 describes. So a session is closed when none is on its
 * way. New streams are not given to the program at first. A client that waits for responses then
 * opens no more: after a pause, and the answer to a PING, in which no stream began and nothing else
 * was sent, the GOAWAY follows, and then the streams are given to the program.
 */
export class Http2Sessions {
  readonly #states = new Map<Http2Session, State>()
  #draining: { readonly roundTrip: number } | undefined

  /** Call it when the session begins. */
  add(session: Http2Session): void {
    this.#states.set(session, { is: 'open' })
    session.once('close', () => this.#states.delete(session))
  }

  /** Whether `deliver`, which gives the stream to the program, is called later. */
  delays(stream: ServerHttp2Stream, deliver: () => void): boolean {
    const { session } = stream
    const state = this.#draining && session && this.#states.get(session)
    if (state === undefined || state.is === 'closed' || session!.destroyed) return false
    const waiting = state.is === 'waiting' ? state : this.#wait(session!)
    waiting.streams++
    // A client may reset the stream before anybody listens for its error.
    stream.on('error', ignore)
    const begin = AsyncLocalStorage.bind(() => {
      stream.off('error', ignore)
      if (!stream.destroyed) deliver()
    })
    // In a tick of its own, as Node does: what the program throws is an exception.
    void waiting.closed.then(() => process.nextTick(begin))
    return true
  }

  /**
   * Closes each session: with its next streams, or when none has begun for a while. Resolves when
   * all are closed to new streams.
   */
  async drain({ quiet, timeout }: Http2DrainTimes): Promise<void> {
    this.#draining = { roundTrip: Math.min(longestRoundTrip, timeout / 4) }
    const end = performance.now() + quiet
    while (this.#open.length > 0 && performance.now() < end) await sleep(pollInterval)
    for (const session of this.#open) this.#close(session)
    await Promise.all([...this.#states.values()].flatMap((state) => (state.is === 'waiting' ? [state.closed] : [])))
  }

  get #open(): readonly Http2Session[] {
    return [...this.#states].flatMap(([session, { is }]) => (is === 'open' ? [session] : []))
  }

  #wait(session: Http2Session): Extract<State, { is: 'waiting' }> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const state = { is: 'waiting' as const, streams: 0, closed: promise }
    this.#states.set(session, state)
    void this.#untilQuiet(session, state).then(() => {
      this.#close(session)
      resolve()
    })
    return state
  }

  /**
   * Resolves after a round trip in which no stream began and nothing was answered. Never rejects.
   */
  async #untilQuiet(session: Http2Session, state: { readonly streams: number }): Promise<void> {
    const { roundTrip } = this.#draining!
    const began = performance.now()
    for (let limit = leastWait; ;) {
      const { streams } = state
      const sent = session.socket.bytesWritten
      await sleep(pause)
      if (session.destroyed) return
      const took = await roundTripOf(session, roundTrip)
      if (session.destroyed || took === undefined) return
      if (state.streams === streams && session.socket.bytesWritten - sent <= pingSize) return
      limit = Math.max(limit, mostRoundTrips * took)
      if (performance.now() - began > Math.min(limit, roundTrip)) return
    }
  }

  /** Streams that have begun end first. */
  #close(session: Http2Session): void {
    if (this.#states.has(session)) this.#states.set(session, { is: 'closed' })
    session.close()
  }
}

/** Resolves to milliseconds, or to undefined if no answer comes in time. */
async function roundTripOf(session: Http2Session, limit: number): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const timer = setTimeout(() => resolve(undefined), limit)
  // False if too many are unanswered.
  if (!session.ping((error, took) => resolve(error === null ? took : undefined))) resolve(undefined)
  const took = await promise
  clearTimeout(timer)
  return took
}

function ignore(): void {}
