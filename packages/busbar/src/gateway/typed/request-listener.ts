import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { BusbarError, type ErrorCode } from '../../contract/errors.ts'
import {
  failure,
  jsonHeaders,
  type HttpResponse,
  type StartedCall,
  type ResponseSink,
  type StreamResponse,
} from '../../contract/http/responder.ts'
import { HttpHandler, type RoutedRequest, type HttpHandlerOptions } from '../../contract/http/http-handler.ts'
import { problemHeaders } from '../../contract/http/problem.ts'
import { toCallError } from '../../contract/host/failures.ts'
import type { TypedHost } from '../../contract/host/typed-host.ts'
import { toTaggedFor } from '../../contract/value/encode.ts'
import { sendProblem } from '../problems/send-problem.ts'
import { selfDescriber, type SelfDescription } from './self-description.ts'
import { handleCors } from './cors.ts'
import { type BodyConsumer, hasBody, readText } from './read-body.ts'
import { writeStream } from './write-stream.ts'

export interface ListenerOptions extends HttpHandlerOptions {
  /** Origins of other sites whose pages may call, such as `https://shop.example`, or `*`. */
  readonly cors: readonly string[]
  /** Undefined: no OpenAPI document is served. */
  readonly describes?: SelfDescription | undefined
}

/** Serves a typed service over HTTP, in the service's own `http.Server` and in the gateway. */
export function typedListener(
  host: TypedHost,
  options: ListenerOptions,
  handler = new HttpHandler(host, options),
): RequestListener {
  const { describes } = options
  const description = describes && { ...describes, tell: selfDescriber(host, describes) }
  const parts: Parts = { handler, cors: options.cors, description }
  return (req, res) => serve(parts, req, res)
}

/** Answers a request for a typed service that has failed to start. */
export function answerFailure(
  req: IncomingMessage,
  res: ServerResponse,
  error: BusbarError,
  cors: readonly string[],
): void {
  if (handleCors(cors, req, res)) return
  refuse(req, res, error)
}

interface Parts {
  readonly handler: HttpHandler
  readonly cors: readonly string[]
  readonly description: (SelfDescription & { tell(): Promise<string> }) | undefined
}

/** Not an async function: an `await` for each step was a tenth of the cost of a request. */
function serve(parts: Parts, req: IncomingMessage, res: ServerResponse): void {
  const { handler, cors, description } = parts
  const { headers } = req
  if (handleCors(cors, req, res)) return
  if (description !== undefined && req.url === description.path && wantsDocument(handler, req))
    return void sendDocument(description, req, res)
  try {
    new TypedRequest(handler, handler.route({ verb: req.method!, url: req.url!, headers }), req, res).begin()
  } catch (thrown) {
    refuse(req, res, BusbarError.from(thrown))
  }
}

/** A request whose method is known: reads the body, makes the call and writes the response. */
class TypedRequest implements BodyConsumer, ResponseSink {
  readonly #handler: HttpHandler
  readonly #routed: RoutedRequest
  readonly #req: IncomingMessage
  readonly #res: ServerResponse

  constructor(handler: HttpHandler, routed: RoutedRequest, req: IncomingMessage, res: ServerResponse) {
    this.#handler = handler
    this.#routed = routed
    this.#req = req
    this.#res = res
  }

  begin(): void {
    if (hasBody(this.#req)) readText(this.#req, this.#handler, this)
    else this.#call(undefined)
  }

  done(text: string): void {
    // The client may have disconnected meanwhile.
    if (!this.#res.destroyed) this.#call(text)
  }

  /**
   * Other errors than BusbarErrors are the program's faults: they go to the log, not to callers.
   */
  failed(error: Error): void {
    this.#refuse(BusbarError.is(error) ? error : toCallError(error, this.#routed.hosted.site))
  }

  answer(answer: HttpResponse): void {
    write(answer, this.#res)
  }

  stream(stream: StreamResponse): void {
    void writeStream(stream, this.#res)
  }

  #call(body: string | undefined): void {
    try {
      const call = this.#handler.begin(this.#routed, body, this)
      if (call instanceof Promise) call.then((known) => this.#began(known)).catch((thrown) => this.#refuse(thrown))
      else this.#began(call)
    } catch (thrown) {
      this.#refuse(thrown)
    }
  }

  /**
   * Abandons the call when the client disconnects. `close` also follows a complete response, when
   * abandoning has no effect.
   */
  #began(call: StartedCall): void {
    const res = this.#res
    if (res.closed) call.abandon()
    else if (!res.writableEnded) res.on('close', () => call.abandon())
  }

  #refuse(thrown: unknown): void {
    refuse(this.#req, this.#res, BusbarError.from(thrown))
  }
}

async function sendDocument(
  description: NonNullable<Parts['description']>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  try {
    write(documentAnswer(await description.tell()), res)
  } catch (thrown) {
    refuse(req, res, BusbarError.from(thrown))
  }
}

/** A method of the service at the same path has priority. */
function wantsDocument(handler: HttpHandler, { method, url }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && !handler.has('GET', url!)
}

function documentAnswer(body: string): HttpResponse {
  return { status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-cache' }, body }
}

/** Node writes a list of fields and one text with the least work, and most responses are that. */
function write({ status, headers, body }: HttpResponse, res: ServerResponse): void {
  if (res.destroyed) return
  const fields: (string | number)[] =
    headers === jsonHeaders ? ['content-type', 'application/json'] : Object.entries(headers).flat()
  if (body === undefined) return void res.writeHead(status, fields).end()
  const length = Buffer.byteLength(body)
  fields.push('content-length', length)
  // ASCII text needs no encoding.
  res.writeHead(status, fields).end(body, length === body.length ? 'latin1' : 'utf8')
}

/** Responds with an error. The body may be unread if the request was refused by its head. */
function refuse(req: IncomingMessage, res: ServerResponse, error: BusbarError<string>): void {
  if (res.headersSent || res.destroyed) {
    res.destroy()
    return
  }
  if (req.complete || !hasBody(req)) return write(failure(error), res)
  const { code, message, service, data } = error
  const more = { service, ...(data !== undefined && { data: toTaggedFor('json', data) }) }
  // Without a path, as in other errors: the route's prefix may have been stripped from it.
  const problem = { code: code as ErrorCode, detail: message, more, headers: problemHeaders(error) }
  sendProblem(req, res, problem, undefined)
}
