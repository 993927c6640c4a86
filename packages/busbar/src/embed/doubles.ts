import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { App } from '../config/app.ts'
import type { Doubles } from '../config/services/doubles.ts'
import type { ClientFunction } from '../contract/client.ts'
import { BusbarError } from '../contract/errors.ts'
import { startHost } from '../contract/host/host.ts'
import { isImplementation, type Implementation } from '../contract/implementation.ts'
import { typedListener } from '../gateway/typed/listener.ts'
import type { LogRecord } from '../shared/control.ts'
import { within } from '../shared/within.ts'
import type { OpenDouble } from '../supervisor/vessels/double.ts'
import { fetchListener } from '../worker/host/fetch-handler.ts'
import { logOf } from '../worker/typed/log.ts'
import type { Replacement } from './start-app.ts'

export interface DoubleParts {
  readonly log: (record: LogRecord) => void
  /** How an implementation calls services of the app. */
  readonly client: ClientFunction
}

/** For the config: which services are replaced, and by what. */
export function doublesOf(replace: Readonly<Record<string, Replacement>>): Doubles {
  return new Map(
    Object.entries(replace).map(([name, double]) => [name, isImplementation(double) ? 'typed' : 'command'] as const),
  )
}

/** Gives a test double a server in this process, on a port that only this machine reaches. */
export function openerOf(double: Replacement, parts: DoubleParts): OpenDouble {
  return async ({ name }, app) => {
    const { listener, stop } = isImplementation(double)
      ? await typedDouble(name, double, app, parts)
      : { listener: handlerOf(name, double, parts), stop: async () => {} }
    const server = createServer(listener)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    return {
      address: { host: '127.0.0.1', port },
      close: async (timeout) => {
        await closeServer(server, timeout)
        await stop()
      },
    }
  }
}

interface Answering {
  readonly listener: RequestListener
  readonly stop: () => Promise<void>
}

async function typedDouble(
  name: string,
  implementation: Implementation,
  { limits, gateway }: App,
  { log, client }: DoubleParts,
): Promise<Answering> {
  const own = logOf(name, log)
  const { maxInFlight, maxInputSize } = limits
  const starting = startHost(implementation, { name, log: own, clone: false, maxInFlight, client })
  const host = await starting.catch((cause: unknown) => {
    if (BusbarError.is(cause)) throw cause
    const message = `the double of ${name} threw while it started: ${textOf(cause)}`
    throw new BusbarError('PROGRAM_THREW', { message, service: name, cause })
  })
  return {
    listener: typedListener(host, { maxInputSize, cors: gateway.cors ?? [] }),
    stop: () =>
      host.stop(0).catch((thrown: unknown) => own.error(`the double threw while it was disposed: ${textOf(thrown)}`)),
  }
}

type Handler = Exclude<Replacement, Implementation>

/** What a handler throws is an answer of status 500 with its text, and never the end of this process. */
function handlerOf(name: string, double: Handler, { log }: DoubleParts): RequestListener {
  const report = (thrown: unknown): string => {
    const line = `the double of ${name} failed: ${textOf(thrown)}`
    log({ time: Date.now(), level: 'error', service: name, stream: 'busbar', line })
    return line
  }
  const fail = (thrown: unknown, response: ServerResponse): void => {
    const line = report(thrown)
    if (response.writableEnded) return
    if (response.headersSent) response.destroy()
    else response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(line)
  }
  if (typeof double !== 'function')
    return fetchListener({
      fetch: async (request) => {
        try {
          return await double.fetch(request)
        } catch (thrown) {
          return new Response(report(thrown), { status: 500 })
        }
      },
    })
  return (request, response) => {
    const answered = async (): Promise<void> => {
      const returned = await double(request, response)
      if (returned instanceof Response) throw new TypeError('it returned a Response: write { fetch: handler }')
    }
    answered().catch((thrown: unknown) => fail(thrown, response))
  }
}

async function closeServer(server: Server, timeout: number): Promise<void> {
  const closed = once(server, 'close')
  // Connections that clients keep become idle one by one.
  const idle = setInterval(() => server.closeIdleConnections(), 20)
  server.close()
  await within(timeout, [closed])
  clearInterval(idle)
  server.closeAllConnections()
  await closed
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
}
