import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Log } from '../../../contract/context.ts'
import { BusbarError } from '../../../contract/errors.ts'
import { LazyHost } from '../../../contract/host/lazy-host.ts'
import { defaultMaxInputSize } from '../../../contract/http/http-handler.ts'
import type { Implementation } from '../../../contract/implementation.ts'
import { documentPath } from '../self-description.ts'
import { answerFailure, typedListener } from '../request-listener.ts'

export interface AdapterOptions {
  /** Maximum size of an input, in bytes. Default: 4 MB. */
  readonly maxInputSize?: number
  /** Origins of other sites whose pages may call. Default: none. */
  readonly cors?: readonly string[]
  /** Whether `GET /openapi.json` serves the contract as an OpenAPI 3.1 document. Default: true. */
  readonly openapi?: boolean
  /** Implementations of the services that it calls, which run in this process. Default: none. */
  readonly calls?: readonly Implementation[]
  /** Receives log lines. Default: the console. */
  readonly log?: Log
}

/** Serves a typed service in an existing server: `http.createServer(nodeListener(catalog))`. */
export interface NodeListener extends AsyncDisposable {
  (req: IncomingMessage, res: ServerResponse): void
}

/** The first request starts the implementation. Disposing the listener stops it. */
export function nodeListener(implementation: Implementation, options: AdapterOptions = {}): NodeListener {
  const { maxInputSize = defaultMaxInputSize, cors = [], openapi = true, calls = [], log = console } = options
  const service = new LazyHost(implementation, { log, calls })
  const describes = openapi ? { path: documentPath, folder: process.cwd() } : undefined
  let listener: RequestListener | undefined
  const listening = async (): Promise<RequestListener> =>
    (listener ??= typedListener(await service.get(), { maxInputSize, cors, describes }))
  const serve = (req: IncomingMessage, res: ServerResponse): void => {
    if (listener !== undefined) return listener(req, res)
    void listening().then(
      (answer) => answer(req, res as never),
      (error: unknown) => answerFailure(req, res, BusbarError.from(error), cors),
    )
  }
  return Object.assign(serve, { [Symbol.asyncDispose]: () => service.stop() })
}
