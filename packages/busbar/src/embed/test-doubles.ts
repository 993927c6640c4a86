import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import type { App } from '../config/app.ts'
import type { TestDoubles } from '../config/services/test-doubles.ts'
import type { ClientFunction } from '../contract/client/client-types.ts'
import { BusbarError } from '../contract/errors.ts'
import { startHost } from '../contract/host/typed-host.ts'
import { isImplementation, type Implementation } from '../contract/implementation.ts'
import { typedListener } from '../gateway/typed/request-listener.ts'
import type { LogRecord } from '../shared/control-messages.ts'
import { settlesWithin } from '../shared/time/settles-within.ts'
import type { OpenTestDouble } from '../supervisor/runtimes/test-double.ts'
import { fetchListener } from '../worker/sandbox/start/fetch-listener.ts'
import { serviceLog } from '../worker/typed/service-log.ts'
import type { Replacement } from './embedded-app.ts'

export interface TestDoubleParts {
  readonly log: (record: LogRecord) => void
  /** With which an implementation calls services of the app. */
  readonly client: ClientFunction
}

/** Which services are replaced, and by what kind of double, for the config. */
export function doubleKinds(replace: Readonly<Record<string, Replacement>>): TestDoubles {
  return new Map(
    Object.entries(replace).map(([name, double]) => [name, isImplementation(double) ? 'typed' : 'command'] as const),
  )
}

/** Returns a function that opens a server for a test double in this process, on a loopback port. */
export function testDoubleOpener(double: Replacement, parts: TestDoubleParts): OpenTestDouble {
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

interface ServedDouble {
  readonly listener: RequestListener
  readonly stop: () => Promise<void>
}

async function typedDouble(
  name: string,
  implementation: Implementation,
  { limits, gateway }: App,
  { log, client }: TestDoubleParts,
): Promise<ServedDouble> {
  const own = serviceLog(name, log)
  const { maxInFlight, maxInputSize } = limits
  const starting = startHost(implementation, { name, log: own, clone: false, maxInFlight, client })
  const host = await starting.catch((cause: unknown) => {
    if (BusbarError.is(cause)) throw cause
    const message = `the test double of ${name} threw while it started: ${textOf(cause)}`
    throw new BusbarError('PROGRAM_THREW', { message, service: name, cause })
  })
  return {
    listener: typedListener(host, { maxInputSize, cors: gateway.cors ?? [] }),
    stop: () =>
      host
        .stop(0)
        .catch((thrown: unknown) => own.error(`the test double of ${name} threw while it stopped: ${textOf(thrown)}`)),
  }
}

type Handler = Exclude<Replacement, Implementation>

/** An error of the handler becomes a 500 response with its text, and does not end this process. */
function handlerOf(name: string, double: Handler, { log }: TestDoubleParts): RequestListener {
  const report = (thrown: unknown): string => {
    const line = `the test double of ${name} failed: ${textOf(thrown)}`
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
    return fetchListener({ fetch: async (request) => responseOf(await double.fetch(request)) }, report)
  return (request, response) => {
    const answer = async (): Promise<void> => {
      const returned = await double(request, response)
      if (returned instanceof Response) throw new TypeError('it returned a Response: write { fetch: handler }')
    }
    answer().catch((thrown: unknown) => fail(thrown, response))
  }
}

/** By its shape: a `Response` of another realm or library is one too. */
function responseOf(returned: Response): Response {
  if (returned instanceof Response || typeof (returned as Response | undefined)?.status === 'number') return returned
  throw new TypeError(`its fetch method returned ${inspect(returned, { depth: 0 })}: return a Response`)
}

async function closeServer(server: Server, timeout: number): Promise<void> {
  const closed = once(server, 'close')
  // Keep-alive connections become idle one by one.
  const idle = setInterval(() => server.closeIdleConnections(), 20)
  server.close()
  await settlesWithin(timeout, [closed])
  clearInterval(idle)
  server.closeAllConnections()
  await closed
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
}
