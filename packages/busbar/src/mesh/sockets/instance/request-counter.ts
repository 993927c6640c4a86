import type { Socket } from 'node:net'
import { noWorker } from '../../../shared/metrics/worker-pair.ts'
import { noStatus } from '../../../shared/metrics/edge-table.ts'
import { type Body, MessageScan } from '../../http/message-scan.ts'
import type { ConnectionOrigin, MeshContext } from '../../mesh-context.ts'
import type { CountedEdge } from '../../meter.ts'
import { answererAt, type Endpoint, transportTo } from '../../routing/endpoint.ts'
import { encodingOf, observeCalls, raiseMaxListeners, type SeenCall } from '../observe-calls.ts'

interface CountedRequest {
  readonly edge: CountedEdge
  readonly began: number | undefined
  readonly method: string
  readonly isUpgrade: boolean
  /** Of the response, once its head has come. */
  status: number
  isCounted: boolean
}

/** As for `end` of an edge. */
interface CallWorkers {
  readonly callee: number | undefined
  readonly caller?: number | undefined
}

/**
 * Counts the requests of one connection by the bytes of both directions, at the caller's end: for
 * an instance whose host counts nothing for this app, since it is a command or belongs to another
 * app. What is not HTTP/1 is not counted.
 */
export class RequestCounter {
  readonly #edgeOf: (method: string, url: string) => CountedEdge
  readonly #workers: CallWorkers
  /** The requests without a complete response, in their order. */
  readonly #open: CountedRequest[] = []
  readonly #requests = new MessageScan({ begun: (head) => this.#asked(head), ended() {} })
  readonly #responses: MessageScan
  /** The head that came last belongs to an interim response. */
  #isInterim = false
  /** The service has ended its direction. */
  #hasEnded = false
  #isOver = false

  constructor(edgeOf: (method: string, url: string) => CountedEdge, workers: CallWorkers = { callee: noWorker }) {
    this.#edgeOf = edgeOf
    this.#workers = workers
    this.#responses = new MessageScan({ begun: (head) => this.#answered(head), ended: () => this.#completed() })
  }

  /** Undefined for calls that are counted elsewhere. */
  static for({ meter }: MeshContext, endpoint: Endpoint, origin: ConnectionOrigin): RequestCounter | undefined {
    const { caller, worker } = origin
    // Who opens a connection for no service counts its requests, as the gateway does.
    if (meter === undefined || caller === undefined || countsItself(endpoint)) return undefined
    const transport = transportTo(endpoint)
    const edgeOf = (method: string, url: string): CountedEdge =>
      meter.http(caller, endpoint.service, method, transport, url)
    return new RequestCounter(edgeOf, { callee: answererAt(endpoint), caller: worker })
  }

  /** The bytes that follow are not HTTP/1. */
  get isOver(): boolean {
    return this.#isOver
  }

  sent(bytes: Buffer): void {
    if (!this.#isOver) this.#requests.add(bytes)
  }

  received(bytes: Buffer): void {
    if (!this.#isOver) this.#responses.add(bytes)
  }

  /** The service sends no more. */
  ended(): void {
    const [request] = this.#open
    if (request !== undefined && request.status !== noStatus && this.#responses.isOpenEnded) this.#completed()
    this.#hasEnded = true
  }

  /** The connection has closed. `isLost`: not by the caller, and not in order. */
  closed(isLost: boolean): void {
    this.#isOver = true
    const isCut = isLost || this.#hasEnded || this.#responses.isMalformed
    for (const request of this.#open.splice(0)) {
      if (isCut && request.status < 500) request.status = noStatus
      this.#count(request)
    }
  }

  /** No instance has taken the connection. */
  refused(): void {
    this.#isOver = true
    for (const { edge } of this.#open.splice(0)) edge.withdraw()
  }

  #asked(head: string): Body {
    const [, method, url] = /^([!-~]+) ([!-~]+) HTTP\/1\.[01]\r\n/.exec(head) ?? []
    if (method === undefined || url === undefined) {
      this.#isOver = this.#open.length === 0
      return 'rest'
    }
    const edge = this.#edgeOf(method, url)
    const isUpgrade = method === 'CONNECT' || /\r\nupgrade:/i.test(head)
    this.#open.push({ edge, began: edge.begin(), method, isUpgrade, status: noStatus, isCounted: false })
    return bodyOf(head) ?? 0
  }

  #answered(head: string): Body {
    const status = Number(/^HTTP\/1\.[01] ([1-9]\d\d)(?=[ \r])/.exec(head)?.[1])
    const [request] = this.#open
    if (Number.isNaN(status) || request === undefined) return this.#leave()
    this.#isInterim = status < 200 && status !== 101
    if (this.#isInterim) return 0
    const { method, isUpgrade } = request
    request.status = status
    if (isUpgrade) this.#count(request)
    if (status === 101 || (method === 'CONNECT' && status < 300)) return this.#leave()
    if (method === 'HEAD' || status === 204 || status === 304) return 0
    return bodyOf(head) ?? 'rest'
  }

  #completed(): void {
    if (this.#isInterim) return
    const request = this.#open.shift()
    if (request !== undefined) this.#count(request)
  }

  /** An upgrade counts when its answer begins, any other request when it is complete. */
  #count(request: CountedRequest): void {
    if (request.isCounted) return
    request.isCounted = true
    request.edge.end(request.status, request.began, this.#workers.callee, this.#workers.caller)
  }

  #leave(): Body {
    this.#isOver = true
    return 'rest'
  }
}

/** Undefined if the fields do not say. */
function bodyOf(head: string): Body | undefined {
  if (/\r\ntransfer-encoding:[^\r]*\bchunked[ \t]*\r/i.test(head)) return 'chunks'
  const length = /\r\ncontent-length:[ \t]*(\d+)[ \t]*\r/i.exec(head)?.[1]
  return length === undefined ? undefined : Number(length)
}

/** The host of every other instance is a worker of this app. */
function countsItself(endpoint: Endpoint): boolean {
  return endpoint.at === 'here' || (endpoint.at === 'link' && endpoint.host === undefined)
}

/** Counts what a client sends on its socket, from now on. It is connecting. */
export function countRequests(socket: Socket, counter: RequestCounter): void {
  let isConnected = false
  const follow = (next: (bytes: Buffer) => void): SeenCall => {
    return (chunk, encoding) => {
      next(bytesOf(chunk, encoding))
      if (counter.isOver) stop()
    }
  }
  const sent = follow((bytes) => counter.sent(bytes))
  const received = follow((bytes) => counter.received(bytes))
  const pushed: SeenCall = (chunk, encoding) => (chunk === null ? counter.ended() : received(chunk, encoding))
  const stops = [
    observeCalls(socket, 'write', sent),
    observeCalls(socket, 'end', sent),
    observeCalls(socket, 'push', pushed),
  ]
  const stop = (): void => stops.splice(0).forEach((restore) => restore())
  socket.once('connect', () => (isConnected = true))
  socket.once('close', () => {
    if (isConnected) counter.closed(isSystemError(socket.errored))
    else counter.refused()
  })
  raiseMaxListeners(socket, 1)
}

/** The connection is lost. Other errors are those of the client that gives it up. */
function isSystemError(error: NodeJS.ErrnoException | null): boolean {
  return error?.syscall !== undefined
}

/** None for what a socket does not write: a callback, and what it throws for. */
function bytesOf(chunk: unknown, encoding: unknown): Buffer {
  if (ArrayBuffer.isView(chunk)) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  return typeof chunk === 'string' ? Buffer.from(chunk, encodingOf(encoding)) : noBytes
}

const noBytes = Buffer.alloc(0)
