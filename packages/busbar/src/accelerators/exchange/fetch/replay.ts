import { DispatchedCall } from '../undici/dispatched-call.ts'
import type { Exchange, ExchangeHandler, ResponseHead } from '../../../mesh/http/exchange.ts'
import { builtinMajor, globalDispatchers, type Dispatcher } from '../undici/global-dispatchers.ts'
import { contextOf } from '../undici/handler.ts'

type Fetch = typeof globalThis.fetch

/**
 * Lets the built-in's `fetch` go on from an answer that is already there: redirects, content codings, and statuses it
 * treats in ways of its own. It is asked for the same once more, with a dispatcher that answers its first request from
 * the exchange under way; what it asks next (where a redirect leads) goes by the global dispatcher, so each of its
 * rules holds here without a second implementation.
 */
export function replay(
  builtin: Fetch,
  args: Parameters<Fetch>,
  head: ResponseHead,
  exchange: Exchange,
): { handler: ExchangeHandler; response: Promise<Response> } {
  const held = new HeldAnswer(head, exchange)
  const init = Object.create(args[1] ?? null, { dispatcher: { value: dispatcherOf(held) } }) as RequestInit
  const response = builtin(args[0], init).finally(() => held.drop())
  return { handler: held, response }
}

function dispatcherOf(held: HeldAnswer): Dispatcher {
  return {
    dispatch(options, handler) {
      if (held.released) return globalDispatchers.ofBuiltin().dispatch(options, handler)
      held.release(new DispatchedCall(handler, contextOf(builtinMajor)))
      return true
    },
  }
}

/** An answer that waits for its handler. */
class HeldAnswer implements ExchangeHandler {
  readonly #head: ResponseHead
  readonly #exchange: Exchange
  readonly #chunks: (Uint8Array | string)[] = []
  #end: ((handler: ExchangeHandler) => void) | undefined
  #handler: DispatchedCall | undefined
  #dropped = false

  constructor(head: ResponseHead, exchange: Exchange) {
    this.#head = head
    this.#exchange = exchange
  }

  get released(): boolean {
    return this.#handler !== undefined
  }

  release(handler: DispatchedCall): void {
    this.#handler = handler
    handler.adopt(this.#exchange)
    handler.onHead(this.#head)
    let more = true
    for (const chunk of this.#chunks.splice(0)) more = handler.onData(chunk)
    if (this.#end !== undefined) this.#end(handler)
    else if (more) this.#exchange.resume()
  }

  /** Nobody will ask any more: the built-in has found a reason not to send the request at all. */
  drop(): void {
    if (this.released || this.#dropped) return
    this.#dropped = true
    this.#exchange.abort()
  }

  onHead(): void {}

  onData(chunk: Uint8Array | string): boolean {
    if (this.#handler !== undefined) return this.#handler.onData(chunk)
    this.#chunks.push(chunk)
    return false
  }

  onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    this.#settle((handler) => handler.onEnd(trailers))
  }

  onError(error: Error): void {
    this.#settle((handler) => handler.onError(error))
  }

  #settle(end: (handler: ExchangeHandler) => void): void {
    if (this.#handler === undefined) this.#end = end
    else end(this.#handler)
  }
}
