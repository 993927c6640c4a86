import { STATUS_CODES } from 'node:http'
import { corsHeaders } from '../../contract/http/cors.ts'
import { type HttpResponse, jsonHeaders } from '../../contract/http/responder.ts'

export interface ResponseText {
  readonly text: string
  readonly encoding: 'latin1' | 'utf8'
}

/** Writes responses as Node's server does, byte for byte. */
export class ResponseWriter {
  readonly #cors: readonly string[]
  readonly #kept: string
  /** In seconds. */
  #now = 0
  #date = ''

  /** `keepAliveTimeout`: in milliseconds; 0 for none. */
  constructor(cors: readonly string[], keepAliveTimeout: number) {
    this.#cors = cors
    const timeout = keepAliveTimeout === 0 ? '' : `Keep-Alive: timeout=${Math.floor(keepAliveTimeout / 1000)}\r\n`
    this.#kept = `Connection: keep-alive\r\n${timeout}`
  }

  /** `origin`: that the request has stated. `closes`: the client is to close its connection. */
  text({ status, headers, body }: HttpResponse, origin: string | undefined, closes: boolean): ResponseText {
    const length = body === undefined ? 0 : Buffer.byteLength(body)
    let lines = origin === undefined ? linesOf(headers) : this.#corsLines(origin, headers) + linesOf(headers)
    if (body !== undefined) lines += `content-length: ${length}\r\n`
    if (headers['date'] === undefined) lines += this.#dateLine()
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n${lines}`
    const text = `${head}${closes ? 'Connection: close\r\n' : this.#kept}\r\n${body ?? ''}`
    // ASCII text needs no encoding.
    return { text, encoding: length === (body?.length ?? 0) ? 'latin1' : 'utf8' }
  }

  /** Fields that the method sets replace them. */
  #corsLines(origin: string, own: HttpResponse['headers']): string {
    const fields = Object.entries(corsHeaders(this.#cors, origin)).filter(([name]) => own[name] === undefined)
    return linesOf(Object.fromEntries(fields))
  }

  #dateLine(): string {
    const now = Math.floor(Date.now() / 1000)
    if (now !== this.#now) {
      this.#now = now
      this.#date = `Date: ${new Date().toUTCString()}\r\n`
    }
    return this.#date
  }
}

function linesOf(headers: HttpResponse['headers']): string {
  if (headers === jsonHeaders) return 'content-type: application/json\r\n'
  let lines = ''
  for (const name in headers) lines += linesOfOne(name, headers[name]!)
  return lines
}

/** Code without types may set a list, of which Node makes a line for each value. */
function linesOfOne(name: string, value: string | readonly string[]): string {
  if (typeof value !== 'object') return `${name}: ${value}\r\n`
  return [value]
    .flat()
    .map((one) => `${name}: ${one}\r\n`)
    .join('')
}
