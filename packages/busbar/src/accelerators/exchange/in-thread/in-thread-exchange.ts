import type { Trace } from '../../../contract/context.ts'
import type { CallCounter } from '../../../contract/host/typed-host.ts'
import { TurnBatch } from '../../../mesh/batch.ts'
import type { CountedEdge } from '../../../mesh/meter.ts'
import type { Exchange, ExchangeHandler, ExchangeRequest } from '../../../mesh/http/exchange.ts'
import type { LocalEndpoint } from '../../../mesh/routing/endpoint.ts'
import { connectionRefusedBy } from '../../../mesh/routing/unreachable.ts'
import type { Scope } from '../../../mesh/scope.ts'
import { endCall } from '../../../mesh/http/counted-call.ts'
import { callAborted } from '../errors.ts'
import type { Chunk } from '../clients/body-values.ts'
import type { RequestPlan } from '../request-plan.ts'
import { ConnectionPool } from './connection-pool.ts'
import { ResponseReceiver } from './response-receiver.ts'
import { StartQueue } from './start-queue.ts'
import { RequestUpload, type UploadOwner } from './upload.ts'
import type { VirtualSocket } from './virtual-socket.ts'

/** Larger whole bodies are sent in pieces. */
const largeBody = 64 * 1024

const starts = new StartQueue<InThreadExchange>((exchange) => exchange.start())
const uploads = new TurnBatch<InThreadExchange>(setImmediate, (exchange) => exchange.passUpload())

/** One call to a program in the same thread. The program's code runs inside `endpoint.enter`. */
export class InThreadExchange extends ResponseReceiver implements Exchange, UploadOwner {
  readonly body: Uint8Array | null = null
  readonly upload: RequestUpload | undefined
  readonly trace: Trace | undefined
  readonly #endpoint: LocalEndpoint
  readonly #pool: ConnectionPool
  readonly #scope: Scope
  #socket: VirtualSocket | undefined
  /** The counter of the service, once the call has begun. */
  #count: CallCounter | undefined
  #timer: ReturnType<CallCounter['countStart']>
  /** The caller's. Undefined if nothing counts the call. */
  readonly #edge: CountedEdge | undefined
  readonly #began: number | undefined
  #isAborted = false
  #isUploadDue = false

  constructor(
    endpoint: LocalEndpoint,
    request: ExchangeRequest,
    plan: RequestPlan,
    scope: Scope,
    handler: ExchangeHandler,
    edge?: CountedEdge,
    trace?: Trace,
  ) {
    super(endpoint.service, request, plan, handler)
    this.#edge = edge
    this.#began = edge?.begin()
    this.#endpoint = endpoint
    this.#pool = ConnectionPool.of(endpoint)
    this.#scope = scope
    this.trace = trace
    const { body } = request
    if (request.streamed) this.upload = new RequestUpload(this, plan.contentLength)
    else if (body !== null && body.length > 0) {
      const bytes = copyOf(body)
      if (bytes.length > largeBody) this.upload = RequestUpload.whole(this, bytes)
      else this.body = bytes
    }
    starts.add(this)
  }

  // Called by the caller

  write(chunk: Uint8Array | string): boolean {
    return this.upload?.write(copyOf(chunk)) ?? true
  }

  end(rawTrailers?: string[]): void {
    this.upload?.end(rawTrailers ?? null)
  }

  override abort(error?: Error): void {
    // After the response, only an unfinished upload can be aborted.
    if (this.isDelivered && this.upload?.complete !== false) return
    this.#isAborted = true
    const isUnread = this.hasUndelivered
    this.cancel(error ?? callAborted(this.#endpoint.service))
    this.#enter(() => {
      if (this.#socket?.exchange === this) this.#socket.hangUp(isUnread)
    })
  }

  protected override drained(): void {
    if (this.#socket?.isHolding === true && this.hasTurnBudget) this.#enter(release)
  }

  protected override ended(status: number, failure: Error | undefined): void {
    // A response that never began has no status.
    const isComplete = failure === undefined || this.#isAborted
    this.#count?.countEnd(!isComplete || status === 0 || status >= 500)
    this.#timer?.end()
    if (this.#edge !== undefined) endCall(this.#edge, this.#began, status, failure, this.#isAborted)
  }

  // Called for the program

  start(): void {
    if (!this.isOpen || this.#socket !== undefined) return
    if (this.#endpoint.state === 'stopped' || !this.#endpoint.server.listening)
      this.queueFailure(connectionRefusedBy(this.#endpoint))
    else {
      this.#count = this.#endpoint.count
      this.#timer = this.#count?.countStart()
      this.#edge?.started?.()
      this.#enter(begin)
    }
  }

  passUploadSoon(): void {
    if (this.#isUploadDue) return
    this.#isUploadDue = true
    uploads.add(this)
  }

  passUpload(): void {
    this.#isUploadDue = false
    this.#enter(passUpload)
  }

  uploadDrained(): void {
    this.queueDrain()
  }

  /** Runs the program's request listener. */
  begin(): void {
    const socket = this.#pool.acquire()
    if (socket === undefined) return this.connectionClosed()
    this.#socket = socket
    socket.begin(this)
  }

  release(): void {
    this.#socket?.release()
  }

  /** The program has thrown. */
  threw(error: unknown): void {
    process.nextTick(rethrow, error)
  }

  protected override closeConnection(): void {
    this.#socket?.hangUp(false)
  }

  #enter(step: Step): void {
    this.#pool.contexts.enter(this.#scope, runStep, this, step)
  }
}

type Step = (exchange: InThreadExchange) => void

// Not closures: a call creates none.
const begin: Step = (exchange) => exchange.begin()
const passUpload: Step = (exchange) => exchange.upload?.pass()
const release: Step = (exchange) => exchange.release()

function runStep(exchange: InThreadExchange, step: Step): void {
  try {
    step(exchange)
  } catch (error) {
    exchange.threw(error)
  }
}

/** The caller may reuse its memory. */
function copyOf(body: Chunk): Buffer {
  return Buffer.from(body as string)
}

function rethrow(error: unknown): never {
  throw error
}
