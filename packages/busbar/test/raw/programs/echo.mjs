// Answers with what it saw of a request, in the form that the query names. SERVICE is its name.
// Under plain Node, without a gateway that strips prefixes, it serves as all services.
import { createServer } from 'node:http'

const { SERVICE: named, PORT: port } = process.env
const takesUpgrades = named === undefined || named === 'shop'

const server = createServer((request, response) => {
  const seen = see(request)
  const form = formOf(request.url)
  if (form === 'early') return answer(form, seen, request, response)
  const body = []
  request.on('data', (chunk) => body.push(chunk))
  request.on('end', () => {
    seen.body = short(Buffer.concat(body).toString('latin1'))
    seen.trailers = request.rawTrailers
    // Long enough for the end of the client's half to be seen first, on a busy machine too.
    if (form === 'late') setTimeout(() => answer(form, seen, request, response), 250)
    else answer(form, seen, request, response)
  })
})

if (takesUpgrades)
  server.on('upgrade', (request, socket, head) => {
    const seen = { upgraded: true, ...see(request) }
    socket.on('error', () => {})
    if (request.url.includes('?refuse')) return socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno')
    const text = JSON.stringify({ ...seen, trailers: [], body: '' })
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\n`,
    )
    // Bytes after the head belong to the new protocol and are echoed.
    socket.write(`${text}\n`)
    socket.write(head)
    socket.on('data', (chunk) => socket.write(chunk))
    socket.on('end', () => socket.end())
  })
server.listen(port ?? 3000)

function see(request) {
  const { service, url } = named === undefined ? route(request.url) : { service: named, url: request.url }
  const { method, httpVersion: version } = request
  const fields = request.rawHeaders.map((text) => (text.length > 100 ? short(text) : text))
  const joined = Object.entries(request.headers).map(([name, value]) => [name, short(String(value))])
  return { service, method, url: short(url), version, fields, headers: Object.fromEntries(joined) }
}

function route(url) {
  for (const service of ['shop', 'admin'])
    if (url === `/${service}` || (/^[/?]/.test(url.slice(service.length + 1)) && url.startsWith(`/${service}`))) {
      const rest = url.slice(service.length + 1)
      return { service, url: rest.startsWith('/') ? rest : `/${rest}` }
    }
  return { service: 'web', url }
}

function short(text) {
  return text.length > 100 ? `${text.length} characters` : text
}

function formOf(url) {
  return /[?&]([a-z-]+)/.exec(url)?.[1]
}

function answer(form, seen, request, response) {
  try {
    response.setHeader('content-type', 'application/json')
    ;(forms[form] ?? forms.whole)(response, JSON.stringify({ ...seen, form }), request)
  } catch (error) {
    response.removeHeader('trailer')
    response.end(JSON.stringify({ ...seen, threw: error.code }))
  }
}

const forms = {
  whole: (response, text) => response.end(text),
  stream(response, text) {
    response.write(text.slice(0, 5))
    response.end(text.slice(5))
  },
  trailers(response, text) {
    response.setHeader('Trailer', 'x-sum')
    response.write(text)
    response.addTrailers({ 'X-Sum': '\xff5' })
    response.end()
  },
  empty: (response) => response.end(),
  length: (response, text) => response.setHeader('Content-Length', Buffer.byteLength(text)).end(text),
  'no-content': (response) => response.writeHead(204).end(),
  'not-modified': (response) => response.writeHead(304, { etag: '"a"' }).end(),
  reason: (response, text) => response.writeHead(299, 'Rather \xff Odd').end(text),
  fields: (response, text) =>
    response
      .writeHead(200, ['X-One', 'a', 'Set-Cookie', 'a=1', 'x-one', 'b', 'Set-Cookie', 'b=2', 'X-8', '\xff'])
      .end(text),
  close: (response, text) => response.setHeader('Connection', 'close').end(text),
  hints(response, text) {
    response.writeEarlyHints({ link: '</a.css>; rel=preload', 'x-more': 'a' })
    response.end(text)
  },
  'hints-of-two'(response, text) {
    response.writeEarlyHints({ link: ['</a.css>; rel=preload', '</b,c.js>; rel="preload"'] })
    response.end(text)
  },
  'large-head': (response, text) => response.setHeader('x-large', 'a'.repeat(40_000)).end(text),
  'many-fields'(response, text) {
    for (let at = 0; at < 2500; at++) response.setHeader(`x-${at}`, 'a')
    response.end(text)
  },
  processing(response, text) {
    response.writeProcessing()
    response.end(text)
  },
  'upgrade-required': (response, text) => response.writeHead(426, { Upgrade: 'foo', Connection: 'upgrade' }).end(text),
  'no-date'(response, text) {
    response.sendDate = false
    response.end(text)
  },
  hangup: (response) => response.destroy(),
  half: (response, text) => response.write(text, () => setTimeout(() => response.destroy(), 20)),
  coding: (response, text) => response.setHeader('Transfer-Encoding', 'chunked').end(text),
  value(response, text, request) {
    const value = Buffer.from(/value=([\w-]*)/.exec(request.url)[1], 'base64url').toString('latin1')
    response.setHeader('x-value', value).end(text)
  },
  early(response, text) {
    response.end(text)
  },
}
