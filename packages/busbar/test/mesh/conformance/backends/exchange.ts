import { deepEqual } from 'node:assert/strict'
import { TestEndpoint } from '../../../support/mesh/test-endpoint.ts'
import type { Endpoint } from '../../../../src/mesh/routing/endpoint.ts'
import type { Exchange, ExchangeHandler, ResponseHead } from '../../../../src/mesh/http/exchange.ts'
import { foldHeaders } from '../../../../src/mesh/http/header-fields.ts'
import { exchanges } from '../../../support/mesh/accelerators.ts'
import { runInScope } from '../../../../src/mesh/scope.ts'
import type { Backend, Link } from '../backend.ts'
import type { Recording } from '../recording.ts'

/** Without socket, text and parser. */
export const exchange = byExchange('exchange', (instance) => instance)

/** An exchange with an instance that `reach` makes callable. */
export function byExchange(
  name: string,
  reach: (instance: TestEndpoint) => Endpoint | Promise<Endpoint & Disposable>,
): Backend {
  return {
    name,
    async serve(server) {
      const instance = new TestEndpoint('callee', server)
      const endpoint = await reach(instance)
      const link = callByExchange(endpoint)
      return {
        open: (request, recording) => link.open(request, recording),
        async [Symbol.asyncDispose]() {
          server.closeAllConnections()
          await instance[Symbol.asyncDispose]()
          if (Symbol.dispose in endpoint) endpoint[Symbol.dispose]()
        },
      }
    },
  }
}

/**
 * A service that calls `endpoint`. There is nothing to dispose of. A caller without a service name
 * is the gateway, which has other limits.
 */
export function callByExchange(endpoint: Endpoint): Link {
  const scope = { service: 'callee', hops: 1 }
  return {
    open(request, recording) {
      const handler = new RecordingHandler(recording)
      const opened: Exchange | undefined = runInScope({ service: 'caller', hops: 0 }, () =>
        exchanges!.open(endpoint, request, scope, handler),
      )
      if (opened === undefined) return undefined
      return {
        write: (chunk) => opened.write(chunk),
        end: (rawTrailers) => opened.end(rawTrailers),
        abort: () => opened.abort(new Error('aborted by the test')),
        resume: () => {
          handler.reading = true
          opened.resume()
        },
      }
    },
    async [Symbol.asyncDispose]() {},
  }
}

/** Asserts the contract of {@link ExchangeHandler}: the order of calls, and none after the end. */
class RecordingHandler implements ExchangeHandler {
  reading: boolean
  readonly #recording: Recording
  #state: 'waiting' | 'body' | 'over' = 'waiting'

  constructor(recording: Recording) {
    this.#recording = recording
    this.reading = !recording.slow
  }

  onInformation(status: number, headers: ResponseHead['headers']): void {
    deepEqual(this.#state, 'waiting', 'information comes before the head')
    this.#recording.onInformation(status, headers)
  }

  onHead({ status, statusText, headers, rawHeaders }: ResponseHead): void {
    deepEqual(this.#state, 'waiting', 'one head')
    this.#state = 'body'
    deepEqual(headers, foldHeaders(rawHeaders!), 'both forms of the headers say the same')
    this.#recording.onHead(status, statusText, rawHeaders!)
  }

  onData(chunk: Uint8Array | string): boolean {
    deepEqual(this.#state, 'body', 'data comes behind the head')
    this.#recording.onData(chunk)
    return this.reading
  }

  onDrain(): void {
    this.#recording.onDrain()
  }

  onEnd(trailers: Readonly<Record<string, string | string[]>>): void {
    deepEqual(this.#state, 'body', 'one end, behind the head')
    this.#state = 'over'
    this.#recording.onEnd(trailers)
  }

  onError(error: Error): void {
    deepEqual(this.#state === 'over', false, 'one end')
    this.#state = 'over'
    this.#recording.onError(error)
  }
}
