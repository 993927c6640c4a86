import { get, host, kind, next, post, raw, type Corpus } from './request.ts'

const hosts = {
  'twice alike': 'Host: a\r\nHost: a\r\n',
  'twice, differing': 'Host: a\r\nHost: admin.example\r\n',
  'twice, other case': 'Host: a\r\nhOST: admin.example\r\n',
  none: '',
  empty: 'Host:\r\n',
  list: 'Host: a, admin.example\r\n',
  'with user': 'Host: a@admin.example\r\n',
  'port that is none': 'Host: admin.example:abc\r\n',
  'with port': 'Host: admin.example:80\r\n',
  'upper case': 'Host: ADMIN.example\r\n',
  'ending dot': 'Host: admin.example.\r\n',
  space: 'Host: a admin.example\r\n',
  slash: 'Host: a/admin\r\n',
  tab: 'Host:\tadmin.example\t\r\n',
  nul: 'Host: admin.example\0\r\n',
  '8 bit': 'Host: admin\xc3\xa9.example\r\n',
  'percent encoded': 'Host: admin%2eexample\r\n',
  'IPv6 without brackets': 'Host: ::1:3000\r\n',
}

const fields = {
  'nul in a value': 'X: a\0b\r\n',
  'nul in a name': 'X\0: a\r\n',
  'control character': 'X: a\x01b\r\n',
  delete: 'X: a\x7fb\r\n',
  '8 bit value': 'X: \xff\xfe\r\n',
  '8 bit value, Expect': 'X: \xff\xfe\r\nExpect: 100-continue\r\n',
  'UTF-8 value': 'X: \xc3\xa9\r\n',
  'tab in a value': 'X: a\tb\r\n',
  'empty value': 'X:\r\n',
  'spaces around a value': 'X:   a   \r\n',
  '8 bit name': 'X\xff: a\r\n',
  'space in a name': 'X Y: a\r\n',
  'space before the colon': 'X : a\r\n',
  'tab before the colon': 'X\t: a\r\n',
  underscores: 'X_Forwarded_For: 1.2.3.4\r\n',
  'no colon': 'XYZ\r\n',
  'no name': ': a\r\n',
  folded: 'X: a\r\n b\r\n',
  'name with parentheses': 'X(): a\r\n',
  'names of the prototype': '__proto__: a\r\nconstructor: b\r\n',
  twice: 'X-Twice: a\r\nX-Between: b\r\nx-twice: c\r\nCookie: a=1\r\nCookie: b=2\r\nAccept: a\r\nAccept: b\r\n',
  'once only': 'Content-Type: a/b\r\nContent-Type: c/d\r\nUser-Agent: a\r\nUser-Agent: b\r\nETag: a\r\nETag: b\r\n',
  Trailer: 'Trailer: x\r\n',
  'Trailer and 8 bit': 'Trailer: x\r\nX: \xff\r\n',
  '20,000 bytes': `X: ${'a'.repeat(20_000)}\r\n`,
  '15,500 bytes': `X: ${'a'.repeat(15_500)}\r\n`,
  '16,300 bytes': `X: ${'a'.repeat(16_300)}\r\n`,
  '1,000,000 bytes': `X: ${'a'.repeat(1_000_000)}\r\n`,
  '1,900 fields': Array.from({ length: 1900 }, (_, n) => `X${n}: a\r\n`).join(''),
  '2,500 short fields': 'a:\r\n'.repeat(2500),
}

const claims =
  'X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\nX-Forwarded-Prefix: /e\r\n' +
  'Forwarded: for=6.6.6.6\r\nX-Real-IP: 6.6.6.6\r\nX-Forwarded-Port: 1\r\nX-FORWARDED-User: root\r\n' +
  'X_Forwarded_For: 6\r\n'

/**
 * A hop-by-hop name is what `Connection` lists (RFC 9110, 7.6.1), which must not take what others
 * rely on.
 */
const connections = {
  'x-forwarded-for': 'Connection: x-forwarded-for\r\n',
  'x-forwarded-proto and -host': 'Connection: close, X-Forwarded-Proto, x-forwarded-host, x-forwarded-prefix\r\n',
  host: 'Connection: host\r\n',
  'content-type': 'Content-Type: a/b\r\nConnection: content-type\r\n',
  'a field of the client': 'X-Keep: 1\r\nConnection: x-keep\r\nX-Keep: 2\r\n',
  authorization: 'Authorization: Basic YTpi\r\nConnection: authorization, cookie\r\nCookie: a=1\r\n',
  'the usual ones': 'TE: trailers\r\nProxy-Connection: x\r\nKeep-Alive: 5\r\n',
  'keep-alive': 'Connection: keep-alive\r\n',
  close: 'Connection: close\r\n',
  'Close, odd case': 'Connection: CLOSE\r\n',
  'close, keep-alive': 'Connection: close, keep-alive\r\n',
  'keep-alive, then close': 'Connection: keep-alive\r\nConnection: close\r\n',
  'keep-alive with spaces': 'Connection:  keep-alive , x\r\n',
  nothing: 'Connection:\r\n',
  commas: 'Connection: ,,,\r\n',
  'with 8 bit': 'Connection: x-\xff\r\n',
}

export const heads: Corpus = {
  ...kind(
    'host',
    mapped(hosts, (lines) => raw(get, '', next, lines)),
  ),
  ...kind(
    'host of the route',
    mapped(hosts, (lines) => raw('GET /shop/x HTTP/1.1', '', next, lines)),
  ),
  ...kind(
    'field',
    mapped(fields, (lines) => raw(get, lines, next)),
  ),
  ...kind(
    'field to the route',
    mapped(fields, (lines) => raw('GET /shop/x HTTP/1.1', lines, next)),
  ),
  ...kind(
    'field with a body',
    mapped(fields, (lines) => raw(post, `${lines}Content-Length: 5\r\n`, `hello${next}`)),
  ),
  ...kind(
    'Connection',
    mapped(connections, (lines) => raw(get, lines, next)),
  ),
  ...kind(
    'Connection, route',
    mapped(connections, (lines) => raw('GET /shop/x HTTP/1.1', lines, next)),
  ),
  ...kind('Connection with a body', {
    'content-length': raw(post, 'Content-Length: 5\r\nConnection: content-length\r\n', `hello${next}`),
    'transfer-encoding': raw(
      post,
      'Transfer-Encoding: chunked\r\nConnection: transfer-encoding\r\n',
      `5\r\nhello\r\n0\r\n\r\n${next}`,
    ),
    'content-type': raw(
      post,
      'Content-Type: text/x\r\nContent-Length: 5\r\nConnection: content-type, expect\r\n',
      `hello${next}`,
    ),
  }),
  ...kind('claim', {
    forwarded: raw(get, claims, next),
    'forwarded, route': raw('GET /shop/x HTTP/1.1', claims, next),
    hops: raw(get, 'Busbar-Hops: 15\r\n', next),
    'hops, many': raw(get, 'Busbar-Hops: 9999\r\nbusbar-hops: x\r\n', next),
    'hops and 8 bit': raw(get, 'Busbar-Hops: 9999\r\nX: \xff\r\n', next),
    'hops to the route': raw('GET /shop/x HTTP/1.1', 'busbar-hops: 9999\r\nX: \xff\r\n', next),
    'hops in trailers': raw(
      post,
      'Transfer-Encoding: chunked\r\n',
      `5\r\nhello\r\n0\r\nBusbar-Hops: 9999\r\n\r\n${next}`,
    ),
  }),
  ...kind('line end', {
    'LF, all': 'GET /x HTTP/1.1\nHost: a\n\n',
    'LF, first line': 'GET /x HTTP/1.1\nHost: a\r\n\r\n',
    'LF, a field': 'GET /x HTTP/1.1\r\nHost: a\nX: y\r\n\r\n',
    'LF at the end': 'GET /x HTTP/1.1\r\nHost: a\r\n\n',
    CR: 'GET /x HTTP/1.1\r\nHost: a\rX: y\r\n\r\n',
    CRCRLF: 'GET /x HTTP/1.1\r\nHost: a\r\r\n\r\n',
    'CR CR': 'GET /x HTTP/1.1\r\nHost: a\r\rX: b\r\n\r\n',
    'fold first': `GET /x HTTP/1.1\r\n Host: a\r\n${host}\r\n`,
  }),
}

function mapped(texts: Readonly<Record<string, string>>, make: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, make(text)]))
}
