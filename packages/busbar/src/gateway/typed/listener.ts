import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { BusbarError, type ErrorCode } from '../../contract/errors.ts'
import {
  failure,
  jsonHeaders,
  type EdgeAnswer,
  type EdgeCall,
  type EdgeReply,
  type EdgeStream,
} from '../../contract/http/answering.ts'
import { HttpEdge, type Directed, type EdgeOptions } from '../../contract/http/edge.ts'
import { problemHeaders } from '../../contract/http/problem.ts'
import { toCallError } from '../../contract/host/failures.ts'
import type { TypedHost } from '../../contract/host/host.ts'
import { toTaggedFor } from '../../contract/value/encode.ts'
import { answerProblem } from '../answer.ts'
import { selfDescriber, type SelfDescription } from './describe.ts'
import { allowOrigin, answerPreflight, isPreflight } from './cors.ts'
import { hasBody, readText, type TextReader } from './request-body.ts'
import { writeStream } from './write-stream.ts'

export interface ListenerOptions extends EdgeOptions {
  /** Origins of other sites whose pages may call: `https://shop.example`, or `*`. */
  readonly cors: readonly string[]
  /** Undefined: it does not tell what it is. */
  readonly describes?: SelfDescription | undefined
}

/** Serves a typed service over HTTP: what its own `http.Server` does with a request, and the gateway with its own. */
export function typedListener(host: TypedHost, options: ListenerOptions): RequestListener {
  const { describes } = options
  const description = describes && { ...describes, tell: selfDescriber(host, describes) }
  const parts: Parts = { edge: new HttpEdge(host, options), cors: options.cors, description }
  return (req, res) => serve(parts, req, res)
}

/** Answers a request for a service that is not there to answer it itself. */
export function answerFailure(
  req: IncomingMessage,
  res: ServerResponse,
  error: BusbarError,
  cors: readonly string[],
): void {
  if (answersOrigin(cors, req, res)) return
  refuse(req, res, error)
}

/** Lets pages of other origins read the answer; true where the request was only their question. */
function answersOrigin(cors: readonly string[], req: IncomingMessage, res: ServerResponse): boolean {
  if (req.headers.origin === undefined) return false
  allowOrigin(cors, req, res)
  if (!isPreflight(req)) return false
  answerPreflight(req, res)
  return true
}

interface Parts {
  readonly edge: HttpEdge
  readonly cors: readonly string[]
  readonly description: (SelfDescription & { tell(): Promise<string> }) | undefined
}

/** No async function, and nothing waits that need not: an `await` for each step of each request was a tenth of its cost. */
function serve(parts: Parts, req: IncomingMessage, res: ServerResponse): void {
  const { edge, cors, description } = parts
  const { headers } = req
  if (answersOrigin(cors, req, res)) return
  if (description !== undefined && req.url === description.path && asksForDocument(edge, req))
    return void tellDocument(description, req, res)
  try {
    new TypedRequest(edge, edge.direct({ verb: req.method!, url: req.url!, headers }), req, res).begin()
  } catch (thrown) {
    refuse(req, res, BusbarError.from(thrown))
  }
}

/** A request whose method is known: reads its body, makes the call and writes the answer. */
class TypedRequest implements TextReader, EdgeReply {
  readonly #edge: HttpEdge
  readonly #directed: Directed
  readonly #req: IncomingMessage
  readonly #res: ServerResponse

  constructor(edge: HttpEdge, directed: Directed, req: IncomingMessage, res: ServerResponse) {
    this.#edge = edge
    this.#directed = directed
    this.#req = req
    this.#res = res
  }

  begin(): void {
    if (hasBody(this.#req)) readText(this.#req, this.#edge, this)
    else this.#call(undefined)
  }

  done(text: string): void {
    // The client may have gone away while it was sending.
    if (!this.#res.destroyed) this.#call(text)
  }

  /** What is no BusbarError is a fault of the program, for the log and not for callers. */
  failed(error: Error): void {
    this.#refuse(BusbarError.is(error) ? error : toCallError(error, this.#directed.hosted.site))
  }

  answer(answer: EdgeAnswer): void {
    write(answer, this.#res)
  }

  stream(stream: EdgeStream): void {
    void writeStream(stream, this.#res)
  }

  #call(body: string | undefined): void {
    try {
      const call = this.#edge.begin(this.#directed, body, this)
      if (call instanceof Promise) call.then((known) => this.#began(known)).catch((thrown) => this.#refuse(thrown))
      else this.#began(call)
    } catch (thrown) {
      this.#refuse(thrown)
    }
  }

  /** A call that was answered at once needs no watch. `close` also follows a whole answer, when nothing is left to abandon. */
  #began(call: EdgeCall): void {
    const res = this.#res
    if (res.closed) call.abandon()
    else if (!res.writableEnded) res.on('close', () => call.abandon())
  }

  #refuse(thrown: unknown): void {
    refuse(this.#req, this.#res, BusbarError.from(thrown))
  }
}

async function tellDocument(
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

/** A method of its own at that path comes first. */
function asksForDocument(edge: HttpEdge, { method, url }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && !edge.has('GET', url!)
}

function documentAnswer(body: string): EdgeAnswer {
  return { status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-cache' }, body }
}

/** Most answers are one line of JSON: a list of fields and one piece of text are what Node writes with the least work. */
function write({ status, headers, body }: EdgeAnswer, res: ServerResponse): void {
  if (res.destroyed) return
  const fields: (string | number)[] =
    headers === jsonHeaders ? ['content-type', 'application/json'] : Object.entries(headers).flat()
  if (body === undefined) return void res.writeHead(status, fields).end()
  const length = Buffer.byteLength(body)
  fields.push('content-length', length)
  // Text that is ASCII need not be encoded.
  res.writeHead(status, fields).end(body, length === body.length ? 'latin1' : 'utf8')
}

/** What was judged by its head may have a body that nobody has read. */
function refuse(req: IncomingMessage, res: ServerResponse, error: BusbarError<string>): void {
  if (res.headersSent || res.destroyed) {
    res.destroy()
    return
  }
  if (req.complete || !hasBody(req)) return write(failure(error), res)
  const { code, message, service, data } = error
  const more = { service, ...(data !== undefined && { data: toTaggedFor('json', data) }) }
  // As in an answer to what was read: without a path, which here may have lost its prefix.
  const problem = { code: code as ErrorCode, detail: message, more, headers: problemHeaders(error) }
  answerProblem(req, res, problem, undefined)
}
