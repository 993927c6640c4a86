import { Agent, request } from 'node:http'
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { CallerControl, CallerRequest } from '../backend.ts'
import type { Recording } from '../recording.ts'

/** Node's own client. `target` selects the other side. */
export class HttpCaller implements Disposable {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #target: RequestOptions

  constructor(target: RequestOptions) {
    this.#target = target
  }

  open({ method, path, rawHeaders, body, streamed }: CallerRequest, recording: Recording): CallerControl | undefined {
    const client = this.#request({ method, path, headers: rawHeaders }, recording)
    if (client === undefined) return undefined
    record(client, recording)
    if (!streamed) client.end(body ?? undefined)
    else client.flushHeaders()
    return {
      write: (chunk) => client.write(chunk),
      end: (rawTrailers) => {
        if (rawTrailers !== undefined) client.addTrailers(pairs(rawTrailers))
        client.end()
      },
      abort: () => client.destroy(new Error('aborted by the test')),
      resume: () => client.emit('read on'),
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }

  /** Throws for an invalid request. */
  #request(options: RequestOptions, recording: Recording): ClientRequest | undefined {
    const isLast = (options.headers as readonly string[]).includes('close')
    try {
      // A request with `Connection: close` gets its own connection: the kept one may be about to
      // close.
      const agent = isLast ? false : this.#agent
      return request({ ...this.#target, agent, ...options })
    } catch (error) {
      recording.onError(error as Error)
      return undefined
    }
  }
}

function record(client: ClientRequest, recording: Recording): void {
  client.on('information', ({ statusCode, headers }) => recording.onInformation(statusCode, headers))
  client.on('continue', () => {})
  client.on('drain', () => recording.onDrain())
  client.on('error', (error) => recording.onError(error))
  client.on('response', (response) => {
    recording.onHead(response.statusCode!, response.statusMessage!, response.rawHeaders)
    recordBody(client, response, recording)
  })
}

function recordBody(client: ClientRequest, response: IncomingMessage, recording: Recording): void {
  const read = (): void => {
    response.on('data', (chunk: Buffer) => recording.onData(chunk))
  }
  response.on('end', () => recording.onEnd(response.trailers))
  response.on('error', (error) => recording.onError(error))
  if (recording.slow) client.once('read on', read)
  else read()
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, n) => (n % 2 === 0 ? [[name, raw[n + 1]!] as [string, string]] : []))
}
