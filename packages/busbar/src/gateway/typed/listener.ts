import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { BusbarError, type ErrorCode } from '../../contract/errors.ts'
import {
  failure,
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
import { hasBody, leaveBody, readText } from './request-body.ts'
import { writeStream } from './write-stream.ts'

export interface ListenerOptions extends EdgeOptions {
  /** Origins of other sites whose pages may call: `https://shop.example`, or `*`. */
  readonly cors: readonly string[]
  /** Undefined: it does not tell what it is. */
  readonly describes?: SelfDescription | undefined
}

/** Serves a typed service over HTTP: what its own `http.Server` does with a request. */
export function typedListener(
  host: TypedHost,
  options: ListenerOptions,
  edge: HttpEdge = new HttpEdge(host, options),
): RequestListener {
  const { describes } = options
  const description = describes && { ...describes, tell: selfDescriber(host, describes) }
  const parts: Parts = { edge, cors: options.cors, description }
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
    const directed = edge.direct({ verb: req.method!, url: req.url!, headers })
    const begun: Begun = { edge, directed, req, res }
    if (!hasBody(req)) {
      leaveBody(req)
      return begin(begun, undefined)
    }
    readText(req, edge, {
      // The client may have gone away while it was sending.
      done: (text) => res.destroyed || begin(begun, text),
      failed: (error) => refuse(req, res, toError(error, directed)),
    })
  } catch (thrown) {
    refuse(req, res, BusbarError.from(thrown))
  }
}

/** What is no BusbarError is a fault of the program, for the log and not for callers. */
function toError(error: Error, { hosted }: Directed): BusbarError<string> {
  return BusbarError.is(error) ? error : toCallError(error, hosted.site)
}

interface Begun {
  readonly edge: HttpEdge
  readonly directed: Directed
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

function begin({ edge, directed, req, res }: Begun, body: string | undefined): void {
  const refused = (thrown: unknown): void => refuse(req, res, BusbarError.from(thrown))
  try {
    const call = edge.begin(directed, body, new NodeReply(res))
    if (call instanceof Promise) call.then((known) => abandonOnClose(known, res)).catch(refused)
    else abandonOnClose(call, res)
  } catch (thrown) {
    refused(thrown)
  }
}

/** Answers by Node's response. */
class NodeReply implements EdgeReply {
  readonly #res: ServerResponse

  constructor(res: ServerResponse) {
    this.#res = res
  }

  answer(answer: EdgeAnswer): void {
    write(answer, this.#res)
  }

  stream(stream: EdgeStream): void {
    void writeStream(stream, this.#res)
  }
}

/** A call that was answered at once needs no watch. `close` also follows a whole answer, when nothing is left to abandon. */
function abandonOnClose(call: EdgeCall, res: ServerResponse): void {
  if (res.closed) call.abandon()
  else if (!res.writableEnded) res.on('close', () => call.abandon())
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

export function write({ status, headers, body }: EdgeAnswer, res: ServerResponse): void {
  if (res.destroyed) return
  if (body === undefined) {
    res.writeHead(status, headers).end()
    return
  }
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
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
