/** The spans of calls by clients that need a connection. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Trace } from '../../contract/context.ts'
import { noStatus } from '../../shared/metrics/edge-table.ts'
import { currentScope } from '../scope.ts'
import type { TracedCall } from './traced-call.ts'
import type { Tracer } from './tracer.ts'

/** On which undici publishes how its requests end. */
export const undiciChannels = ['undici:request:headers', 'undici:request:trailers', 'undici:request:error'] as const

export interface RequestToTrace {
  readonly service: string
  readonly method: string
  readonly path: string
}

/** What is known of the services that are called. */
interface CalledServices {
  readonly isCommand: (service: string) => boolean
  /** The path template by which a call is counted. */
  readonly templateOf: (service: string, method: string, path: string) => string | undefined
}

/**
 * Traces the requests of Node's client and of undici, which publish how they end on diagnostics
 * channels.
 */
export class RequestTracing implements Disposable {
  readonly #tracer: Tracer
  readonly #callees: CalledServices
  readonly #calls = new WeakMap<object, { readonly call: TracedCall; status: number }>()
  readonly #installed = new DisposableStack()

  constructor(tracer: Tracer, callees: CalledServices) {
    this.#tracer = tracer
    this.#callees = callees
    this.#on('http.client.response.finish', ({ request, response }) => {
      const { statusCode = noStatus, headers: fields } = response as IncomingMessage
      const { socket } = request as ClientRequest
      this.#answered(request, statusCode, fields['content-length'])
      ;(response as IncomingMessage).once('close', () => this.#end(request, cutOf(response as IncomingMessage, socket)))
    })
    this.#on('http.client.request.error', ({ request, error }) => this.#end(request, error))
    const [headers, trailers, error] = undiciChannels
    this.#on(headers, ({ request, response }) => {
      const { statusCode, headers: fields } = response as UndiciResponse
      this.#answered(request, statusCode, lengthIn(fields))
    })
    this.#on(trailers, ({ request }) => this.#end(request))
    this.#on(error, (message) => this.#end(message.request, message.error))
  }

  /**
   * Begins a call. The caller sends its context, then {@link follow}s the request. `given`: the
   * context that the program has set itself.
   */
  begin({ service, method, path }: RequestToTrace, given: Trace | undefined): TracedCall {
    const scope = currentScope()
    const kind = { part: 'call', caller: scope?.service, service, protocol: 'http', method } as const
    // Any other instance records the transport itself.
    const transport = this.#callees.isCommand(service) ? 'tcp' : undefined
    const route = this.#callees.templateOf(service, method, path)
    const call = this.#tracer.call({ ...kind, route, transport }, path, given ?? scope?.trace)
    call.begin()
    return call
  }

  follow(request: object, call: TracedCall): void {
    this.#calls.set(request, { call, status: noStatus })
  }

  [Symbol.dispose](): void {
    this.#installed.dispose()
  }

  #on(channel: string, handle: (message: Message) => void): void {
    const listener = (message: unknown): void => handle(message as Message)
    subscribe(channel, listener)
    this.#installed.defer(() => unsubscribe(channel, listener))
  }

  /** `length`: what the head states of the body. */
  #answered(request: object, status: number, length: string | undefined): void {
    const traced = this.#calls.get(request)
    if (traced === undefined) return
    traced.status = status
    const { method } = request as { readonly method?: string }
    if (!traced.call.isSampled || method === 'HEAD' || status === 204 || status === 304) return
    traced.call.details.received = Number(length ?? 0) || 0
  }

  #end(request: object, error?: NodeJS.ErrnoException): void {
    const traced = this.#calls.get(request)
    if (traced === undefined) return
    this.#calls.delete(request)
    if (error?.code === 'ECONNREFUSED') traced.call.withdraw()
    else traced.call.end(isCut(error) && traced.status < 500 ? noStatus : traced.status)
  }
}

/** A response that the caller itself has aborted counts by its status. */
function isCut(error: NodeJS.ErrnoException | undefined): boolean {
  // The code of a DOMException is a number.
  const code = String(error?.code)
  return cutCodes.has(code) || code.startsWith('HPE_')
}

/** What has cut off a response of Node's client, which says the same if the caller aborts it. */
function cutOf({ complete, errored }: IncomingMessage, socket: Socket | null): NodeJS.ErrnoException | undefined {
  if (complete || socket === null) return undefined
  return (socket.readableEnded ? errored : socket.errored) ?? undefined
}

const cutCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

interface UndiciResponse {
  readonly statusCode: number
  /** Name, value, name, value… */
  readonly headers: readonly Uint8Array[]
}

function lengthIn(fields: readonly Uint8Array[]): string | undefined {
  const at = fields.findIndex(
    (name, n) => n % 2 === 0 && name.length === 14 && String(name).toLowerCase() === 'content-length',
  )
  return at === -1 ? undefined : String(fields[at + 1])
}

interface Message {
  readonly request: object
  readonly response?: unknown
  readonly error?: NodeJS.ErrnoException
}
