import { once } from 'node:events'
import type { Endpoint } from '../../../src/mesh/routing/endpoint.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest, ResponseHead } from '../../../src/mesh/http/exchange.ts'
import { EventEmitter } from 'node:events'
import { exchanges } from './accelerators.ts'

export interface Answer {
  readonly status: number
  readonly headers: ResponseHead['headers']
  readonly body: string
  readonly trailers: Readonly<Record<string, string>>
}

/** The caller's end of an exchange, with a promise of the whole response or the error. */
export class TestCall extends EventEmitter implements ExchangeHandler {
  exchange: Exchange | undefined
  reading = true
  readonly chunks: (Uint8Array | string)[] = []
  #head: ResponseHead | undefined

  onHead(head: ResponseHead): void {
    this.#head = head
    this.emit('head', head)
  }

  onData(chunk: Uint8Array | string): boolean {
    this.chunks.push(chunk)
    this.emit('chunk', chunk)
    return this.reading
  }

  onDrain(): void {
    this.emit('drain')
  }

  onEnd(trailers: Readonly<Record<string, string>>): void {
    const body = Buffer.concat(this.chunks.map((chunk) => Buffer.from(chunk as string))).toString()
    this.emit('answer', { status: this.#head!.status, headers: this.#head!.headers, body, trailers })
  }

  onError(error: Error): void {
    this.emit('error', error)
  }

  async answer(): Promise<Answer> {
    return ((await once(this, 'answer')) as [Answer])[0]
  }
}

export function requestOf(parts: Partial<ExchangeRequest> = {}): ExchangeRequest {
  const rawHeaders = ['Host', 'callee.internal', 'Connection', 'keep-alive']
  return { method: 'GET', path: '/', rawHeaders, body: null, streamed: false, ...parts }
}

export function open(endpoint: Endpoint, parts: Partial<ExchangeRequest> = {}): TestCall {
  const call = new TestCall()
  call.exchange = exchanges!.open(endpoint, requestOf(parts), { service: endpoint.service, hops: 1 }, call)
  return call
}

export function send(endpoint: Endpoint, parts: Partial<ExchangeRequest> = {}): Promise<Answer> {
  return open(endpoint, parts).answer()
}
