/**
 * The items service on `node:http`, or on `node:https` with `TLS_CERT` and `TLS_KEY`; with `HTTP2`
 * on `node:http2`. `POST /rpz/items` stores an item and returns it, `GET /rpz/items/:id` finds it,
 * `GET /rpz/items?limit=n` lists items. `PRELOAD` is the number of initial items. `items.go` and
 * the typed service in `items/` do the same.
 */
import { readFileSync } from 'node:fs'
import http, { type IncomingMessage, type RequestListener } from 'node:http'
import http2, { type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import https from 'node:https'
import { text } from 'node:stream/consumers'

interface Item {
  id: string
  name: string
}

const { PRELOAD = '0', PORT = '0', TLS_CERT, TLS_KEY, HTTP2 } = process.env
const path = '/rpz/items'
const items = new Map<string, Item>()
for (let id = 1; id <= Number(PRELOAD); id++) keep({ id: String(id), name: `Item ${id}` })

/** A response of HTTP/1.1 or HTTP/2: both have what is used here. */
interface Reply {
  writeHead(status: number, headers: Record<string, string | number>): unknown
  end(body: string): unknown
}

const listener = (request: IncomingMessage | Http2ServerRequest, response: Reply): void => {
  const { method, url = '/' } = request
  if (method === 'POST' && url === path) void add(request, response)
  else if (method === 'GET' && url.startsWith(`${path}/`)) find(url.slice(path.length + 1), response)
  else if (method === 'GET' && url.startsWith(path)) list(new URLSearchParams(url.slice(path.length)), response)
  else reply(response, 404, { error: 'not found' })
}
const certificate = TLS_CERT && TLS_KEY ? { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) } : undefined
const server = HTTP2 === undefined ? overHttp1() : overHttp2()
server.listen(Number(PORT), '127.0.0.1')

function overHttp1(): http.Server {
  const listen: RequestListener = (request, response) => listener(request, response)
  return certificate === undefined ? http.createServer(listen) : https.createServer(certificate, listen)
}

function overHttp2(): http2.Http2Server | http2.Http2SecureServer {
  const listen = (request: Http2ServerRequest, response: Http2ServerResponse) => listener(request, response)
  return certificate === undefined ? http2.createServer(listen) : http2.createSecureServer(certificate, listen)
}

async function add(request: IncomingMessage | Http2ServerRequest, response: Reply): Promise<void> {
  try {
    reply(response, 201, keep(JSON.parse(await text(request))))
  } catch (error) {
    reply(response, 400, { error: (error as Error).message })
  }
}

function find(id: string, response: Reply): void {
  const item = items.get(id)
  if (item === undefined) reply(response, 404, { error: 'there is no such item' })
  else reply(response, 200, item)
}

function list(query: URLSearchParams, response: Reply): void {
  const limit = Number(query.get('limit') ?? items.size)
  if (Number.isInteger(limit) && limit >= 1) reply(response, 200, [...items.values().take(limit)])
  else reply(response, 400, { error: 'limit is wrong' })
}

/** Stores only the fields of an item. */
function keep(content: unknown): Item {
  const { id, name } = content as Item
  if (typeof id !== 'string' || id === '' || typeof name !== 'string') throw new Error('not an item')
  const item = { id, name }
  items.set(id, item)
  return item
}

function reply(response: Reply, status: number, content: object): void {
  const body = JSON.stringify(content)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}
