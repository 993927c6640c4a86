import { chunked, kind, raw, type Corpus } from './request.ts'

/** Requests to a typed service at `/api`. */
const json = 'Content-Type: application/json\r\n'
const behind = '{"text":"next"}'
const next = post('/api/echo', behind)

function post(path: string, body: string, fields = json): string {
  return raw(`POST ${path} HTTP/1.1`, `${fields}Content-Length: ${body.length}\r\n`, body)
}

function postInChunks(path: string, body: string, fields = json): string {
  const chunk = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`
  return raw(`POST ${path} HTTP/1.1`, fields + chunked, `${chunk}0\r\n\r\n`)
}

const more = (text: string): string => `{"text":"a","more":${text}}`
const nested = (depth: number): string => more('['.repeat(depth) + ']'.repeat(depth))

const bodies: Record<string, string> = {
  whole: '{"text":"a"}',
  empty: '',
  null: 'null',
  list: '[]',
  cut: '{"text":"a"',
  'with more behind': '{"text":"a"} x',
  'twice the same key': '{"text":"a","text":"b"}',
  __proto__: more('{"__proto__":1}'),
  'constructor with prototype': more('{"constructor":{"prototype":{}}}'),
  'byte order mark': '\xef\xbb\xbf{"text":"a"}',
  'no UTF-8': '{"text":"\xff"}',
  'overlong UTF-8': '{"text":"\xc0\x80"}',
  'a surrogate alone': '{"text":"\\ud800"}',
  'UTF-16': '\xff\xfe{\0"\0',
  'a line break in text': '{"text":"\n"}',
  'nested 90 times': nested(90),
  'nested 110 times': nested(110),
  'opened 100,000 times': '['.repeat(100_000),
  'a number too large': more('1e999'),
  'a tag': more('{"$bigint":"12"}'),
  'a tag that is wrong': more('{"$bigint":"x"}'),
  'a tag of another kind': more('{"$foo":1}'),
  'digits beyond the limit': more(`{"$bigint":"${'9'.repeat(10_001)}"}`),
  'another type': '{"text":5}',
  'a form': 'text=a',
}

const types = [
  '',
  'Content-Type: text/plain\r\n',
  'Content-Type:\r\n',
  'Content-Type: APPLICATION/JSON; charset=utf-8\r\n',
  'Content-Type: application/json;charset=utf-16\r\n',
  'Content-Type: application/vnd.x+json\r\n',
  'Content-Type: text/plain\r\nContent-Type: application/json\r\n',
  `${json}Content-Encoding: gzip\r\n`,
]

const targets = [
  '/echo',
  '/none',
  '/things/1',
  '/things/x',
  '/ticks/2',
  '/',
  '',
  '/nope',
  '/openapi.json',
  '/__proto__',
]
const odd = [
  '/things/%zz',
  '/things/1%2f2',
  '/names/%ff',
  '/names/%00',
  '/names/\xc3\xa9',
  '/things/1?$input=x',
  '//echo',
]

const fields = [
  'Busbar-Timeout: 0',
  'Busbar-Timeout: x',
  'Busbar-Timeout: 99999999999999999999',
  'traceparent: x',
  'Origin: https://page.example',
  'Accept: text/event-stream',
  'Accept: application/json;values=tagged',
  'Expect: x',
  'Connection: upgrade\r\nUpgrade: foo',
  'X: \xff',
]

function everyOne(names: readonly string[], make: (name: string) => string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name.replaceAll('\r\n', ', '), make(name)]))
}

export const typed: Corpus = {
  ...kind(
    'body',
    everyOne(Object.keys(bodies), (name) => post('/api/echo', bodies[name]!) + next),
  ),
  ...kind(
    'body in chunks',
    everyOne(Object.keys(bodies), (name) => postInChunks('/api/echo', bodies[name]!) + next),
  ),
  ...kind(
    'type',
    everyOne(types, (type) => post('/api/echo', bodies['whole']!, type) + next),
  ),
  ...kind(
    'type, no body',
    everyOne(types, (type) => post('/api/none', '', type) + next),
  ),
  ...Object.assign(
    {},
    ...['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'].map((method) =>
      kind(
        method,
        everyOne([...targets, ...odd], (path) => raw(`${method} /api${path} HTTP/1.1`, '', next)),
      ),
    ),
  ),
  ...kind(
    'field, call',
    everyOne(fields, (field) => post('/api/echo', bodies['whole']!, `${json}${field}\r\n`) + next),
  ),
  ...kind(
    'field, stream',
    everyOne(fields, (field) => raw('GET /api/ticks/2 HTTP/1.1', `${field}\r\n`, next)),
  ),
  ...kind('length', {
    short: raw('POST /api/echo HTTP/1.1', `${json}Content-Length: 50\r\n`, bodies['whole']),
    'too large': raw('POST /api/echo HTTP/1.1', `${json}Content-Length: 9000000\r\n`, 'x'),
    'no chunk': raw('POST /api/echo HTTP/1.1', json + chunked, 'zz\r\n'),
    'a chunk that does not end': raw('POST /api/echo HTTP/1.1', json + chunked, '5\r\n{"tex\r\nq\r\n'),
    'HTTP/1.0': `POST /api/echo HTTP/1.0\r\nHost: a\r\n${json}Content-Length: 12\r\n\r\n{"text":"a"}`,
    'a stream over HTTP/1.0': 'GET /api/ticks/2 HTTP/1.0\r\nHost: a\r\n\r\n',
    'in pieces': [next.slice(0, 20), next.slice(20, -3), next.slice(-3)],
    'twenty at once': next.repeat(20),
  }),
}
