import { helloInChunks, host, kind, next, raw, type Corpus } from './request.ts'

const targets = {
  absolute: 'http://a/x',
  'absolute, other host': 'http://admin.example/x',
  'absolute, https': 'https://admin.example/x',
  'absolute, upper case': 'HTTP://ADMIN.EXAMPLE/x',
  'absolute, no path': 'http://admin.example',
  'absolute, query': 'http://admin.example?x',
  'absolute, user': 'http://u:p@admin.example/x',
  'absolute, port': 'http://admin.example:8080/x',
  'absolute, ftp': 'ftp://admin.example/x',
  'absolute, no host': 'http:///x',
  'two slashes': '//admin.example/x',
  backslashes: 'http:\\\\admin.example\\x',
  'absolute, @': 'http://a@admin.example/x',
  'absolute, internal': 'http://admin.internal/x',
  'absolute, IPv6': 'http://[::1]/x',
  'absolute, broken IPv6': 'http://[::1/x',
  'absolute, fragment': 'http://admin.example#/x',
  'absolute, route': 'http://a/admin/x',
  'absolute, dots': 'http://a/shop/../admin/x',
  'absolute, percent encoded host': 'http://admin%2eexample/x',
  '*': '*',
  authority: 'a:80',
  empty: '',
  relative: 'admin/x',
  query: '?x',
}

const paths = [
  '/shop/..%2fadmin/s',
  '/shop/%2e%2e/admin/s',
  '/shop/.%2e/admin/s',
  '/shop/../admin/s',
  '/shop/..;/admin/s',
  '/shop;/../admin',
  '//admin/s',
  '/./admin/s',
  '/shop/./s',
  '/shop//s',
  '/shop///evil.com/x',
  '/shop/%2f%2fevil/x',
  '/admin;x/s',
  '/admin%00/s',
  '/shop/%00',
  '/shop\\..\\admin',
  '/%61dmin/s',
  '/ADMIN/s',
  '/admin%2fs',
  '/admin%2Fs',
  '/admin%3fs',
  '/admin?s',
  '/admin#s',
  '/admin/..',
  '/admin/%2e%2e%2fx',
  '/shop/..',
  '/shop/%252e%252e/admin',
  '/shop/%c0%ae%c0%ae/admin',
  '/shop/...',
  '/shop/. ./admin',
  '/admin/',
  '/admin',
  '/adminx',
  '/shop/\t/x',
  '/shop/%5c..%5cadmin',
  '/shop?/../admin',
  '/shop?a=/../b',
  '/shop/x#y',
  '/shop/%2e',
  '/shop/.',
  '/shop%2f..%2fadmin',
  '/shop/..?x',
  '/shop/..\xef\xbc\x8fadmin',
  '/\xc2\xa0admin',
  '///',
  '/shop//',
  '/shop//?x',
  '/shop/%',
  '/x\0',
  '/x\xff',
  '/shop/x?\xff',
  '/a b',
  '/a\nb',
  `/${'a'.repeat(20_000)}`,
  '/shop/x?"<>`{}|^[]',
]

const methods = ['get', 'FOO', 'Get', 'PRI', 'CONNECT', 'TRACE', 'PURGE', 'M-SEARCH', 'G@T', '', 'GET\t', 'QUERY']
methods.push('PROPFIND', 'SOURCE', 'ANNOUNCE', 'A'.repeat(200), 'HEAD', 'OPTIONS', 'PATCH', 'PUT')

const versions = ['HTTP/1.2', 'HTTP/2.0', 'HTTP/1.', 'http/1.1', 'HTTP/01.1', 'HTTP/1.1 ', 'HTTP/1.10', 'HTTP/9.9']
versions.push('HTTP/ 1.1', 'ICE/1.0', 'RTSP/1.0', 'HTTP/0.9')

/** HTTP/1.0, to the entry and to a route. */
function old(path: string): Record<string, string> {
  const line = `GET ${path} HTTP/1.0\r\n`
  const upload = `POST ${path} HTTP/1.0\r\n${host}Connection: keep-alive\r\n`
  return {
    'without host': `${line}\r\n`,
    'with host': `${line}${host}\r\n${next}`,
    'keep-alive': `${line}${host}Connection: keep-alive\r\n\r\n${next}`,
    Trailer: `${line}${host}Trailer: x\r\n\r\n`,
    'chunks asked for': `GET ${path}?stream HTTP/1.0\r\n${host}\r\n`,
    'announced trailers': `GET ${path}?trailers HTTP/1.0\r\n${host}\r\n`,
    body: `${upload}Content-Length: 5\r\n\r\nhello${next}`,
    chunked: `${upload}Transfer-Encoding: chunked\r\n\r\n${helloInChunks}${next}`,
    'length and chunked': `${upload}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${helloInChunks}${next}`,
  }
}

export const lines: Corpus = {
  ...kind(
    'target',
    mapped(targets, (target) => raw(`GET ${target} HTTP/1.1`, '', next)),
  ),
  ...kind('path', Object.fromEntries(paths.map((path) => [shown(path), raw(`GET ${path} HTTP/1.1`, '', next)]))),
  ...kind('method', Object.fromEntries(methods.map((name) => [shown(name), raw(`${name} /x HTTP/1.1`, '', next)]))),
  ...kind('method, route', {
    ...Object.fromEntries(methods.map((name) => [shown(name), raw(`${name} /shop/x HTTP/1.1`, '', next)])),
    'HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
    'CONNECT, authority': raw('CONNECT a:443 HTTP/1.1', '', next),
    'CONNECT, path': raw('CONNECT /admin HTTP/1.1', '', next),
    'OPTIONS *': raw('OPTIONS * HTTP/1.1', '', next),
    'OPTIONS *, other host': raw('OPTIONS * HTTP/1.1', '', next, 'Host: admin.example\r\n'),
    'OPTIONS *, Trailer': raw('OPTIONS * HTTP/1.1', 'Trailer: x\r\n', next),
  }),
  ...kind('version', {
    ...Object.fromEntries(versions.map((version) => [version, raw(`GET /x ${version}`, '', next)])),
    none: 'GET /x\r\n',
    'none, with an end': 'GET /x\r\n\r\n',
  }),
  ...kind('HTTP/1.0', old('/x')),
  ...kind('HTTP/1.0, route', old('/shop/x')),
  ...kind('line', {
    'two spaces': raw('GET  /x HTTP/1.1', '', next),
    tabs: raw('GET\t/x\tHTTP/1.1', '', next),
    'CRLF ahead': `\r\n\r\n${raw('GET /x HTTP/1.1', '', next)}`,
    'LF ahead': `\n${raw('GET /x HTTP/1.1', '', next)}`,
    'space ahead': ` ${raw('GET /x HTTP/1.1', '', next)}`,
    'nul ahead': `\0${raw('GET /x HTTP/1.1', '', next)}`,
    'CRLF between': `${raw('GET /x HTTP/1.1')}\r\n\r\n${next}`,
  }),
}

function shown(text: string): string {
  return text.length > 60 ? `${text.slice(0, 10)}… (${text.length})` : JSON.stringify(text).slice(1, -1)
}

function mapped(texts: Readonly<Record<string, string>>, make: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, make(text)]))
}
