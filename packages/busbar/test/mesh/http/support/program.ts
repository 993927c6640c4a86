import { createHash } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'

/** What the callee saw of a call. */
export interface Seen {
  readonly url: string
  /** Settles when the request's connection has closed or its response has ended. */
  readonly over: Promise<'answered' | 'cut'>
}

/**
 * A program that answers in every way an HTTP server can. The same one runs behind the mesh and
 * behind a real port. `seen` is called with each call.
 */
export function createProgram(seen: (call: Seen) => void = () => {}): RequestListener {
  return (request, response) => {
    const over = new Promise<'answered' | 'cut'>((resolve) => {
      response.once('close', () => resolve(response.writableFinished ? 'answered' : 'cut'))
    })
    seen({ url: request.url!, over })
    const { pathname, searchParams } = new URL(request.url!, 'http://program')
    const route = routes[pathname]
    if (route === undefined) response.writeHead(404).end(`no ${pathname}`)
    else
      void Promise.resolve(route(request, response, searchParams)).catch((error: unknown) =>
        response.destroy(error as Error),
      )
  }
}

export interface Told {
  readonly status: number
  readonly headers: Record<string, string | string[]>
  readonly chunks: readonly { readonly size: number; readonly wait: boolean; readonly text: boolean }[]
  /** Answers without reading the request. */
  readonly early: boolean
}

type Route = (request: IncomingMessage, response: ServerResponse, query: URLSearchParams) => unknown

/** Connection headers, which necessarily differ. */
const ofConnection = new Set(['host', 'date'])

const routes: Readonly<Record<string, Route>> = {
  '/echo': async (request, response) => {
    const body = await whole(request)
    const lines: string[] = []
    for (let i = 0; i < request.rawHeaders.length; i += 2)
      if (!ofConnection.has(request.rawHeaders[i]!.toLowerCase()))
        lines.push(`${request.rawHeaders[i]!.toLowerCase()}: ${request.rawHeaders[i + 1]!}`)
    const { method, url } = request
    const headers = lines.toSorted()
    json(response, {
      method,
      url,
      headers,
      length: body.length,
      hash: hash(body),
      text: body.toString('latin1').slice(0, 200),
    })
  },
  '/form': async (request, response) => {
    const body = await whole(request)
    const boundary = /boundary=(.+)$/.exec(request.headers['content-type'] ?? '')?.[1]
    // Removes the random boundary.
    json(response, {
      body: boundary === undefined ? body.toString() : body.toString().replaceAll(boundary, 'BOUNDARY'),
    })
  },
  '/mirror': (request, response) => {
    response.setHeader('content-type', request.headers['content-type'] ?? 'application/octet-stream')
    request.pipe(response)
  },
  '/json': (_request, response) => json(response, { hello: 'wörld', list: [1, 2, 3] }),
  '/text': (_request, response) => response.end('plain text, ünïcode ✓'),
  '/bad-json': (_request, response) => response.end('{"a":'),
  '/bom': (_request, response) => response.end(Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d])),
  '/bytes': (_request, response) => response.end(Buffer.from([0, 1, 255, 254, 195, 40])),
  // Follows instructions: see `fuzz.ts`.
  '/as-told': async (request, response, query) => {
    const { status, headers, chunks, early } = JSON.parse(query.get('how')!) as Told
    const body = early ? Buffer.alloc(0) : await whole(request)
    response.writeHead(status, { 'x-hash': hash(body), 'x-method': request.method!, ...headers })
    if ([204, 205, 304].includes(status)) return response.end()
    for (const { size, wait, text } of chunks) {
      if (wait) await sleep(1)
      response.write(text ? 'ü'.repeat(size) : Buffer.alloc(size, size % 251))
    }
    return response.end()
  },
  '/empty': (_request, response) => response.end(),
  '/latin1': (_request, response) => response.end('h\u00e9', 'latin1'),
  '/surrogate': (_request, response) => response.end('a\ud800b'),
  '/large': (_request, response, query) => {
    const size = Number(query.get('size') ?? 300_000)
    response.end(Buffer.alloc(size, 'abcdefghij'))
  },
  '/chunks': async (_request, response) => {
    for (const chunk of ['one,', Buffer.from('two,'), 'thr\u00eae,', 'four']) {
      response.write(chunk)
      await sleep(2)
    }
    response.end()
  },
  '/split': async (_request, response) => {
    // One character, split into two chunks.
    const bytes = Buffer.from('\u20ac')
    response.write(bytes.subarray(0, 1))
    await sleep(2)
    response.end(bytes.subarray(1))
  },
  '/status': (_request, response, query) => {
    const status = Number(query.get('code'))
    const text = query.get('text')
    const length = query.get('length')
    if (length !== null) response.setHeader('content-length', length)
    if (text === null) response.writeHead(status)
    else response.writeHead(status, text)
    response.end([204, 205, 304].includes(status) ? undefined : `status ${status}`)
  },
  '/headers': (_request, response) => {
    response.setHeader('Set-Cookie', ['a=1; Path=/', 'b=2'])
    response.setHeader('X-Repeated', ['one', 'two'])
    response.setHeader('X-Latin', 'caf\u00e9')
    response.setHeader('X-Number', 7)
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.end('<p>')
  },
  '/trailers': (_request, response) => {
    response.writeHead(200, { trailer: 'x-sum' })
    response.write('body')
    response.addTrailers({ 'x-sum': '42' })
    response.end()
  },
  '/latin1-words': (_request, response) => {
    response.writeHead(200, 'Ol\u00e9', { 'X-Mixed-Case': 'V', Trailer: 'X-T' })
    response.write('body')
    response.addTrailers([
      ['X-T', '\u00e9'],
      ['X-U', '1'],
      ['X-U', '2'],
    ])
    response.end()
  },
  '/hints': (_request, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    response.end('after hints')
  },
  '/redirect': (_request, response, query) => {
    response.writeHead(Number(query.get('code') ?? 302), { location: query.get('to') ?? '/echo' })
    response.end('moved')
  },
  '/around': (_request, response, query) => {
    const left = Number(query.get('n') ?? 30)
    response.writeHead(302, { location: left === 0 ? '/json' : `/around?n=${left - 1}` }).end()
  },
  '/nowhere': (_request, response) => response.writeHead(302).end('no location'),
  '/coded': (_request, response, query) => {
    const coding = query.get('as') ?? 'gzip'
    const body = Buffer.from('coded '.repeat(1000))
    response.setHeader('content-encoding', coding)
    response.end(encode(coding, body))
  },
  '/coded-badly': (_request, response) => {
    response.setHeader('content-encoding', 'gzip')
    response.end('this is not gzip')
  },
  '/never': () => {},
  '/head-then-never': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    response.write('begun')
  },
  '/cut-early': (_request, response) => response.destroy(),
  '/cut-late': (_request, response) => {
    response.write('part')
    setImmediate(() => setImmediate(() => response.destroy()))
  },
  '/endless': (_request, response) => {
    const chunk = Buffer.alloc(16_384, 'x')
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', more)
    more()
  },
  '/early-answer': (request, response) => {
    response.writeHead(413).end('too much')
    request.resume()
  },
  '/abort-aware': (request, response) => {
    request.on('error', () => {})
    response.writeHead(200)
    response.write('started')
  },
}

export async function whole(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export function hash(bytes: Uint8Array): string {
  return createHash('sha1').update(bytes).digest('hex')
}

function json(response: ServerResponse, value: unknown): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(value))
}

function encode(coding: string, body: Buffer): Buffer {
  if (coding === 'gzip') return gzipSync(body)
  if (coding === 'deflate') return deflateSync(body)
  if (coding === 'br') return brotliCompressSync(body)
  if (coding === 'zstd') return zstdCompressSync(body)
  if (coding === 'deflate, gzip') return gzipSync(deflateSync(body))
  return body
}
