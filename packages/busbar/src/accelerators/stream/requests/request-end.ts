import type { Socket } from 'node:net'
import { BusbarError } from '../../../contract/errors.ts'
import {
  type Exchange,
  type ExchangeHandler,
  type ExchangeRequest,
  isReset,
  type ResponseHead,
} from '../../../mesh/http/exchange.ts'
import { CountedCall } from '../../../mesh/http/counted-call.ts'
import {
  type Responding,
  type ResponseReceiver,
  sendAsValues,
  type ValueConnection,
} from '../../../mesh/http/value-connection.ts'
import type { ConnectionOrigin, MeshContext } from '../../../mesh/mesh-context.ts'
import type { Link } from '../../../mesh/links/link.ts'
import { type Endpoint, transportTo } from '../../../mesh/routing/endpoint.ts'
import type { ConnectionEnd, OppositeEnd } from '../connection-end.ts'
import { readRequest, readRequestParts, type TextRequest } from './request-text.ts'
import { ResponseText } from './response-text.ts'

export interface RequestEndParts {
  readonly mesh: MeshContext
  readonly service: string
  /** To the host at which the connection was opened. It ends the connection unless that is busy. */
  readonly link: Link
  /** The client's end. */
  readonly end: ConnectionEnd
  /** Its number of hops is that of calls for which the client does not say it. */
  readonly origin: ConnectionOrigin
  /** The instance for the next request. Undefined if none serves. */
  readonly find: (not?: Endpoint) => Endpoint | undefined
  /**
   * Carries the connection as bytes from now on, in place of this end. Undefined if no instance
   * serves.
   */
  readonly asBytes: () => OppositeEnd | undefined
  /** Ends the client's socket with this error. Default: that of a service that does not serve. */
  readonly fail: (error?: Error) => void
}

/**
 * Stands for the server of another app at the end of a client's connection. A request that the
 * client writes as a whole becomes an exchange, and the values of its response become text. So
 * neither the link nor the callee has a connection, and the callee parses nothing.
 *
 * The first bytes that are not such a request turn the connection into one that carries bytes, for
 * good. Nothing was sent of those bytes before.
 *
 * A client that knows of this end sends it the values themselves, and gets the values of the
 * response ({@link sendAsValues}). One request at a time is under way, so text and values keep
 * their order.
 */
export class RequestEnd implements OppositeEnd, ExchangeHandler, Responding {
  gone = false
  readonly #parts: RequestEndParts
  /** Set while a request is under way whose response is text. */
  #response: ResponseText | undefined
  /** Set while one is under way whose response is values. */
  #receiver: ResponseReceiver | undefined
  #exchange: Exchange | undefined
  /** Of a response in values. The client has paused, and gets it after the values before it. */
  #failure: Error | undefined
  /** Bytes that came before the response to the previous request was complete. */
  #next: Buffer | undefined
  #hasHead = false
  #isPaused = false
  /** The client sends no more. */
  #hasEnded = false

  constructor(parts: RequestEndParts) {
    this.#parts = parts
    watch(parts.link, this)
    const socket: Socket & ValueConnection = parts.end.socket
    socket[sendAsValues] = (head, body, receiver) => this.#sendValues(head, body, receiver)
  }

  get #isBusy(): boolean {
    return this.#response !== undefined || this.#receiver !== undefined
  }

  // Called for the client's socket

  get hasRoom(): boolean {
    return this.#next === undefined
  }

  receive(chunk: Buffer, owned: boolean): boolean {
    if (this.#isBusy) {
      const copy = owned ? chunk : Buffer.from(chunk)
      this.#next = this.#next === undefined ? copy : Buffer.concat([this.#next, copy])
      return false
    }
    const read = readRequest(chunk)
    if (read !== undefined && this.#send(read)) return true
    this.#leave()
    const bytes = this.#parts.asBytes()
    if (bytes !== undefined) {
      const hasRoom = bytes.receive(chunk, owned)
      if (this.#hasEnded) bytes.finishWith('end')
      return hasRoom
    }
    // As a server that has gone since the connection was opened.
    this.#close('reset')
    return true
  }

  finishWith(): void {
    const { end } = this.#parts
    this.#hasEnded = true
    if (end.gone) {
      this.#leave()
      this.#exchange?.abort()
    } else if (!this.#isBusy) this.#close('end')
  }

  makeRoom(): void {
    if (!this.#isPaused || this.#response === undefined || !this.#parts.end.hasRoom) return
    this.#isPaused = false
    this.#exchange?.resume()
  }

  /**
   * While another host serves, it gets the next request: the client might write one before it sees
   * the end of its connection, which would fail although nothing was sent.
   */
  linkClosed(): void {
    if (!this.#isBusy && this.#parts.find() === undefined) this.#close('end')
  }

  /** Only servers ask, and this connection has none. */
  closeIfSent(): void {}

  /** Called by the client for a response in values. */
  resume(): void {
    const failure = this.#failure
    this.#isPaused = false
    if (failure === undefined) this.#exchange?.resume()
    else this.#failLater(failure)
  }

  // Called by the exchange

  onInformation(status: number, headers: ResponseHead['headers']): void {
    if (this.#receiver !== undefined) return this.#receiver.onInformation(status, headers)
    this.#deliver(this.#response!.information(status, headers))
  }

  onHead(head: ResponseHead): void {
    this.#hasHead = true
    if (this.#receiver !== undefined) return this.#receiver.onHead(head)
    this.#response!.begin(head)
    // A body that is there comes in the same tick, and goes with the head.
    queueMicrotask(() => this.#deliver(this.#response?.takeHead()))
  }

  onData(chunk: Uint8Array | string): boolean {
    if (this.#receiver !== undefined) this.#isPaused = !this.#receiver.onData(chunk)
    else {
      this.#deliver(this.#response!.data(chunk))
      this.#isPaused = !this.#parts.end.hasRoom
    }
    return !this.#isPaused
  }

  onEnd(trailers: ResponseHead['headers']): void {
    const response = this.#response
    const receiver = this.#receiver
    this.#deliver(response?.end(trailers))
    const isFollowed = this.#next !== undefined
    // The client may send its next request before this returns. It has to follow what waits.
    if (!isFollowed) this.#forget()
    receiver?.onEnd(trailers)
    if (isFollowed) this.#forget()
    if (response?.isLast === true || (this.#hasEnded && !isFollowed)) return this.#close('end')
    if (!isFollowed) return
    const next = this.#next!
    this.#next = undefined
    this.receive(next, true)
    this.#parts.end.makeRoom()
  }

  onError(error: Error): void {
    if (this.#receiver !== undefined && this.#hasHead && !this.gone) return this.#failLater(error)
    this.#fail(error)
  }

  /** As over a connection, an error after the head comes in a later turn, and when it is read. */
  #failLater(error: Error): void {
    this.#exchange = undefined
    this.#failure = error
    if (!this.#isPaused) setImmediate(() => this.#fail(error))
  }

  #fail(error: Error): void {
    const isDelivered = this.#hasHead
    this.#deliver(this.#response?.takeHead())
    this.#next = undefined
    this.#forget()
    if (this.gone) return
    if (!isDelivered && isRefusal(error)) this.#parts.fail()
    // The callee has not sent HTTP, and its bytes stayed there.
    else if (isParseError(error)) this.#parts.fail(error)
    else this.#close(isLoss(error) || isReset(error) ? 'reset' : 'end')
  }

  /** False if only bytes carry the request exactly. Then nothing was sent. */
  #send({ request, hops = this.#parts.origin.hops }: TextRequest, receiver?: ResponseReceiver): boolean {
    const { mesh, service, find, origin } = this.#parts
    const endpoint = hops > mesh.maxHops ? undefined : find()
    if (endpoint === undefined) return false
    const response = receiver === undefined ? new ResponseText(request.method) : undefined
    const counted = countedFor(this, mesh, endpoint, origin, request)
    const exchange = mesh.exchanges?.open(endpoint, request, { service, hops }, counted ?? this, find)
    if (exchange === undefined) {
      counted?.withdraw()
      return false
    }
    this.#response = response
    this.#receiver = receiver
    this.#exchange = counted?.over(exchange) ?? exchange
    this.#hasHead = this.#isPaused = false
    return true
  }

  #sendValues(head: string, body: Uint8Array | null, receiver: ResponseReceiver): Responding | undefined {
    const { end } = this.#parts
    // What has arrived as text is to be read first.
    if (this.gone || this.#isBusy || this.#hasEnded || end.waiting > 0) return undefined
    const read = readRequestParts(head, body)
    return read !== undefined && this.#send(read, receiver) ? this : undefined
  }

  /** No request is under way. */
  #forget(): void {
    this.#response = this.#receiver = this.#exchange = undefined
  }

  #deliver(text: Buffer | undefined): void {
    if (text !== undefined && !this.gone) this.#parts.end.receive(text, true)
  }

  #close(how: 'end' | 'reset'): void {
    this.#leave()
    this.#parts.end.finishWith(how)
  }

  #leave(): void {
    this.gone = true
    openEnds.get(this.#parts.link)?.delete(this)
  }
}

/** Undefined if the caller counts the request itself. */
function countedFor(
  handler: ExchangeHandler,
  { meter }: MeshContext,
  endpoint: Endpoint,
  { caller, worker }: ConnectionOrigin,
  { method, path }: ExchangeRequest,
): CountedCall | undefined {
  if (meter === undefined || caller === undefined) return undefined
  const edge = meter.http(caller, endpoint.service, method, transportTo(endpoint), path)
  return new CountedCall(handler, edge, endpoint, worker)
}

/**
 * The ends that were opened over each link. A handler of its own for each end would stay with the
 * link, which may outlive millions of them.
 */
const openEnds = new WeakMap<Link, Set<RequestEnd>>()

function watch(link: Link, end: RequestEnd): void {
  const known = openEnds.get(link)
  if (known !== undefined) return void known.add(end)
  const ends = new Set([end])
  openEnds.set(link, ends)
  void link.closed.then(() => ends.forEach((one) => one.linkClosed()))
}

/** No instance has begun with the request. */
function isRefusal(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNREFUSED' || refusals.some((code) => BusbarError.is(error, code))
}

const refusals = ['SERVICE_UNAVAILABLE', 'FORBIDDEN', 'RESOURCE_EXHAUSTED'] as const

function isParseError({ code }: NodeJS.ErrnoException): boolean {
  return typeof code === 'string' && code.startsWith('HPE_')
}

/** The callee has not closed the connection in order, or has sent what is no answer. */
function isLoss(error: Error): boolean {
  const reason = BusbarError.is(error) ? error : error.cause
  return losses.some((code) => BusbarError.is(reason, code))
}

const losses = ['LINK_LOST', 'WORKER_DIED', 'INTERNAL'] as const
