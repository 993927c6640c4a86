import type { IncomingMessage, ServerResponse } from 'node:http'
import { client } from '../../../contract/client.ts'
import type { Log } from '../../../contract/context.ts'
import { defaultMaxInFlight, startHost, type TypedHost } from '../../../contract/host/host.ts'
import type { Implementation } from '../../../contract/implementation.ts'
import { documentPath } from '../describe.ts'
import { typedListener } from '../listener.ts'

export interface AdapterOptions {
  /** Bytes of an input. Default: 4 MB. */
  readonly maxInputSize?: number
  /** Origins of other sites whose pages may call. Default: none. */
  readonly cors?: readonly string[]
  /** Whether `GET /openapi.json` answers what the contract says, in OpenAPI 3.1. Default: true. */
  readonly openapi?: boolean
  /** Default: the console. */
  readonly log?: Log
}

/** Serves a typed service in a server that is there already: `http.createServer(nodeListener(catalog))`. */
export interface NodeListener extends AsyncDisposable {
  (req: IncomingMessage, res: ServerResponse): void
}

/** The implementation is started by the first request; disposing stops it. */
export function nodeListener(implementation: Implementation, options: AdapterOptions = {}): NodeListener {
  const { maxInputSize = 4 * 1024 * 1024, cors = [], openapi = true, log = console } = options
  const { name } = implementation.contract
  let starting: Promise<TypedHost> | undefined
  const listening = async (): Promise<ReturnType<typeof typedListener>> => {
    starting ??= startHost(implementation, { name, log, clone: false, maxInFlight: defaultMaxInFlight, client })
    const describes = openapi ? { path: documentPath, folder: process.cwd() } : undefined
    return typedListener(await starting, { maxInputSize, cors, describes })
  }
  let listener: Promise<ReturnType<typeof typedListener>> | undefined
  const serve = (req: IncomingMessage, res: ServerResponse): void => {
    void (listener ??= listening()).then(
      (answer) => answer(req, res as never),
      (error: unknown) => {
        log.error(`${name} did not start: ${error instanceof Error ? error.stack : String(error)}`)
        res.writeHead(503).end()
      },
    )
  }
  return Object.assign(serve, {
    async [Symbol.asyncDispose](): Promise<void> {
      await (await starting?.catch(() => undefined))?.stop(0)
    },
  })
}
