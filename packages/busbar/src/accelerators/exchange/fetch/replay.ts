import { DispatchedCall } from '../undici/dispatched-call.ts'
import type { Exchange, ExchangeHandler, ResponseHead } from '../../../mesh/http/exchange.ts'
import { builtinMajor, globalDispatchers, type Dispatcher } from '../undici/globals.ts'
import { contextOf } from '../undici/handler-dialects.ts'

type Fetch = typeof globalThis.fetch

/**
 * Lets the built-in `fetch` continue with a response that has arrived: for redirects, content
 * codings, and statuses with special rules. The built-in gets the same call, with a dispatcher that
 * answers the first request from the exchange in progress. Its next requests, such as the target of
 * a redirect, use the global dispatcher. So its rules need no second implementation.
 */
export function replay(
  builtin: Fetch,
  args: Parameters<Fetch>,
  head: ResponseHead,
  exchange: Exchange,
): { handler: ExchangeHandler; response: Promise<Response> } {
  const held = new HeldResponse(head, exchange)
  const init = Object.create(args[1] ?? null, { dispatcher: { value: dispatcherOf(held) } }) as RequestInit
  const response = builtin(args[0], init).finally(() => held.drop())
  return { handler: held, response }
}

function dispatcherOf(held: HeldResponse): Dispatcher {
  return {
    dispatch(options, handler) {
      if (held.released) return globalDispatchers.ofBuiltin().dispatch(options, handler)
      held.release(new DispatchedCall(handler, contextOf(builtinMajor)))
      return true
    },
  }
}

/** A response that waits for its handler. */
class HeldResponse implements ExchangeHandler {
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
    handler.takeOver(this.#exchange)
    handler.onHead(this.#head)
    let more = true
    for (const chunk of this.#chunks.splice(0)) more = handler.onData(chunk)
    if (this.#end !== undefined) this.#end(handler)
    else if (more) this.#exchange.resume()
  }

  /** Aborts if the built-in has decided not to send the request. */
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
