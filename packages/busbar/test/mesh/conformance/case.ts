import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { CallerRequest, Link } from './backend.ts'
import type { ProgramLog } from './program-log.ts'
import { Recording } from './recording.ts'
import type { Outcome } from './recording.ts'

/** One behaviour in which every way of calling must equal TCP. */
export interface Case {
  readonly name: string
  program(log: ProgramLog): Server | Promise<Server>
  /** One GET of `/` by default. */
  readonly call?: (caller: Caller, log: ProgramLog) => Promise<void>
  /** The fast path leaves such requests to a connection. */
  readonly handedOver?: true
  /**
   * Both directions are active at once. How far the response lags behind the request is a matter of
   * buffers, over TCP too. So only the events of each direction are ordered.
   */
  readonly isDuplex?: true
  /** Its caller accesses the server directly, which only works in one thread. */
  readonly holdsServer?: true
}

export type Handler = (request: IncomingMessage, response: ServerResponse, log: ProgramLog) => unknown

/**
 * A case whose program is one request listener. The events of its requests and responses are
 * compared.
 */
export function plain(name: string, handler: Handler, call?: Case['call'], more: Partial<Case> = {}): Case {
  return {
    name,
    program: (log) =>
      createServer((request, response) => {
        log.watch(request, response)
        handler(request, response, log)
      }),
    ...(call !== undefined && { call }),
    ...more,
  }
}

export interface CallOptions {
  readonly method?: string
  readonly path?: string
  /** Name, value, name, value…, after `Host` and `Connection`. */
  readonly headers?: readonly string[]
  readonly body?: string | Uint8Array
  readonly streamed?: boolean
  readonly slow?: boolean
  readonly connection?: string
}

/** The calling side of a case. */
export class Caller {
  readonly #link: Link
  readonly #outcomes: Promise<Outcome>[] = []
  handedOver = false

  constructor(link: Link) {
    this.#link = link
  }

  /** A call that the case controls step by step. */
  open(options: CallOptions = {}): Call {
    const recording = new Recording(options.slow === true)
    const { method = 'GET', path = '/', body = null, streamed = false } = options
    const rawHeaders = ['Host', 'callee.internal', 'Connection', options.connection ?? 'keep-alive']
    rawHeaders.push(...(options.headers ?? []))
    return this.#open({ method, path, body, streamed, rawHeaders }, recording)
  }

  /** With exactly these headers. */
  openRaw(request: CallerRequest): Call {
    return this.#open(request, new Recording(false))
  }

  #open(request: CallerRequest, recording: Recording): Call {
    const control = this.#link.open(request, recording)
    if (control === undefined) {
      this.handedOver = true
      recording.onError(new Error('handed over'))
    }
    this.#outcomes.push(recording.outcome())
    return new Call(recording, control)
  }

  /** A complete call. */
  async send(options: CallOptions = {}): Promise<Outcome> {
    const { body } = options
    const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))]
    const call = this.open({ ...options, headers: [...(options.headers ?? []), ...length] })
    return call.recording.outcome()
  }

  /** A call whose body is sent in chunks. */
  stream(options: CallOptions = {}): Call {
    const headers = [...(options.headers ?? []), 'Transfer-Encoding', 'chunked']
    return this.open({ method: 'POST', ...options, headers, streamed: true })
  }

  outcomes(): Promise<Outcome[]> {
    return Promise.all(this.#outcomes)
  }
}

export class Call {
  readonly recording: Recording
  readonly #control: ReturnType<Link['open']>

  constructor(recording: Recording, control: ReturnType<Link['open']>) {
    this.recording = recording
    this.#control = control
  }

  /** Resolves when more may be written. */
  async write(chunk: Uint8Array | string): Promise<void> {
    const drained = this.recording.drained()
    if (this.#control?.write(chunk) === false) await drained
  }

  end(rawTrailers?: string[]): void {
    this.#control?.end(rawTrailers)
  }

  abort(): void {
    this.#control?.abort()
  }

  resume(): void {
    this.#control?.resume()
  }

  outcome(): Promise<Outcome> {
    return this.recording.outcome()
  }
}
