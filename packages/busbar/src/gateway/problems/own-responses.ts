import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ErrorCode, errorTable } from '../../contract/errors.ts'
import { corsHeaders } from '../../contract/http/cors.ts'
import type { RefusalReason } from '../../shared/metrics/refusals.ts'
import { problemText, type Problem } from './problem.ts'
import { sendProblem } from './send-problem.ts'

export interface OwnResponsesParts {
  /** Sites whose pages may read them; `*` for all. */
  readonly origins: readonly string[]
  readonly onRefused: (reason: RefusalReason) => void
}

/** What is known of the request. Its path is, as soon as its head was read. */
export interface RequestHead {
  readonly path?: string | undefined
  readonly method?: string | undefined
  readonly origin?: string | undefined
}

/**
 * The responses that the gateway makes itself. They are counted by their reasons, and pages of the
 * sites in `gateway.cors` may read them, as they may read those of typed services.
 */
export class OwnResponses {
  readonly #parts: OwnResponsesParts

  constructor(parts: OwnResponsesParts) {
    this.#parts = parts
  }

  /** As `sendProblem`. */
  send(req: IncomingMessage, res: ServerResponse, problem: Problem, path: string | undefined): void {
    const { origin } = req.headers
    sendProblem(req, res, this.#prepare(problem, { path, origin }), path)
  }

  /** For a connection that has no `ServerResponse`, as `problemText`. */
  text(problem: Problem, head: RequestHead = {}): string {
    return problemText(this.#prepare(problem, head), head.path, head.method)
  }

  #prepare(problem: Problem, head: RequestHead): Problem {
    const { origins, onRefused } = this.#parts
    onRefused(problem.reason ?? reasonOf(problem, head))
    if (head.origin === undefined || origins.length === 0) return problem
    return { ...problem, headers: { ...problem.headers, ...corsHeaders(origins, head.origin) } }
  }
}

function reasonOf({ code }: Problem, { path }: RequestHead): RefusalReason {
  if (code === 'REQUEST_TIMEOUT') return path === undefined ? 'head_timeout' : 'body_timeout'
  return ofCode[code] ?? ofStatus[errorTable[code].status] ?? 'internal'
}

const ofCode: { readonly [Code in ErrorCode]?: RefusalReason } = {
  REQUEST_MALFORMED: 'malformed',
  CLIENT_CERTIFICATE_MISSING: 'certificate_missing',
  ROUTE_NOT_FOUND: 'no_route',
  BODY_TOO_LARGE: 'body_too_large',
  HEADERS_TOO_LARGE: 'head_too_large',
  WORKER_DIED: 'worker_died',
  LINK_LOST: 'worker_died',
  ANSWER_MALFORMED: 'response_malformed',
  RESOURCE_EXHAUSTED: 'overloaded',
  RESPONSE_TIMEOUT: 'response_timeout',
}

/** Errors of services, of which there are many. */
const ofStatus: Readonly<Record<number, RefusalReason>> = { 502: 'hung_up', 503: 'not_serving' }
