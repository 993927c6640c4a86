import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Log } from '../../../contract/context.ts'
import { BusbarError } from '../../../contract/errors.ts'
import { LazyHost } from '../../../contract/host/lazy-host.ts'
import { defaultMaxInputSize } from '../../../contract/http/edge.ts'
import type { Implementation } from '../../../contract/implementation.ts'
import { documentPath } from '../describe.ts'
import { answerFailure, typedListener } from '../listener.ts'

export interface AdapterOptions {
  /** Bytes of an input. Default: 4 MB. */
  readonly maxInputSize?: number
  /** Origins of other sites whose pages may call. Default: none. */
  readonly cors?: readonly string[]
  /** Whether `GET /openapi.json` answers what the contract says, in OpenAPI 3.1. Default: true. */
  readonly openapi?: boolean
  /** Implementations of services that it calls, in this very process. Default: none. */
  readonly calls?: readonly Implementation[]
  /** Default: the console. */
  readonly log?: Log
}

/** Serves a typed service in a server that is there already: `http.createServer(nodeListener(catalog))`. */
export interface NodeListener extends AsyncDisposable {
  (req: IncomingMessage, res: ServerResponse): void
}

/** The implementation is started by the first request; disposing stops it. */
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
