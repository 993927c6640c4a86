import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Directed, EdgeRequest, HttpEdge } from '../../contract/http/edge.ts'
import type { Arrivals } from '../arrivals.ts'
import { type Director, prepare } from '../director.ts'
import type { Flight, Flights } from '../flights.ts'
import { cutPrefix, type Way } from '../routes.ts'
import { PlainCall } from './plain-call.ts'
import { canTakeText, hasBody } from './request-body.ts'

export interface PlainCallsParts {
  readonly director: Director
  readonly flights: Flights
  /** Whether something else has a say in the request: the gateway's own pages, or its end. */
  passes(req: IncomingMessage): boolean
  /** The line that tells how long a connection is kept, with its end; '' for none. */
  readonly keepAlive: string
}

/** Where a typed call begins. */
interface Entry {
  readonly edge: HttpEdge
  readonly directed: Directed
  readonly way: Way
}

/**
 * Typed calls that are answered without Node's response. With it, and promises on the way to it, such a call had 0.9 of the
 * throughput of a plain Fastify route, without both it has 1.26 times that (docs/decisions/plain-calls.md). Whatever the head leaves open goes by Node's server: streams, chunks, pages of other origins, methods nobody has.
 */
export class PlainCalls {
  readonly #parts: PlainCallsParts
  /** Of which Node's server is asked for a response now. */
  #late: { readonly flight: Flight; readonly call: PlainCall } | undefined

  constructor(parts: PlainCallsParts) {
    this.#parts = parts
  }

  take(req: IncomingMessage, arrivals: Arrivals): PlainCall | undefined {
    const entry = this.#parts.passes(req) ? undefined : this.#find(req)
    return entry && this.#begin(req, arrivals, entry)
  }

  /** True of a request that is being answered already, and by this response from now on. */
  adopts(req: IncomingMessage, res: ServerResponse): boolean {
    const late = this.#late
    if (late?.call.req !== req) return false
    this.#late = undefined
    this.#parts.flights.adopt(late.flight, res)
    late.call.adopt(res)
    return true
  }

  #find(req: IncomingMessage): Entry | undefined {
    const direction = this.#parts.director.directAhead(req)
    if (direction.problem !== undefined || direction.endpoint.at !== 'here') return undefined
    const { way, endpoint } = direction
    const { edge } = endpoint
    if (edge === undefined) return undefined
    const directed = methodAt(edge, { verb: req.method!, url: cutPrefix(req.url!, way.cut), headers: req.headers })
    return directed !== undefined && isPlain(directed, req, edge) ? { edge, directed, way } : undefined
  }

  #begin(req: IncomingMessage, arrivals: Arrivals, { edge, directed, way }: Entry): PlainCall {
    const { flights, keepAlive } = this.#parts
    const call = new PlainCall(req, {
      edge,
      directed,
      keepAlive,
      answered() {
        flights.end(flight)
        arrivals.answered()
      },
      needsResponse: () => {
        this.#late = { flight, call }
        arrivals.giveBack(req, call.shouldKeepAlive)
      },
    })
    const flight = flights.beginPlain(req, call, arrivals.connection)
    flights.routed(flight, way.service)
    prepare(req, way)
    call.begin()
    return call
  }
}

/** What a plain class has is only known when it is asked, and then it throws. */
function methodAt(edge: HttpEdge, request: EdgeRequest): Directed | undefined {
  try {
    return edge.find(request)
  } catch {
    return undefined
  }
}

/** Its answer is one piece, and its body is at hand when it has come. */
function isPlain({ hosted, request: { headers } }: Directed, req: IncomingMessage, edge: HttpEdge): boolean {
  if (hosted.spec.kind !== 'fn') return false
  return !hasBody(req) || (canTakeText(req) && Number(headers['content-length']) <= edge.maxInputSize)
}
