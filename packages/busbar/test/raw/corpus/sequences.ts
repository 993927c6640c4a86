import { chunked, get, helloInChunks, kind, next, post, raw, type Corpus } from './request.ts'

const webSocket =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

/** To a service that takes upgrades, and to one that does not. */
function upgrades(path: string): Record<string, string> {
  const line = `GET ${path} HTTP/1.1`
  return {
    WebSocket: raw(line, webSocket, next),
    'with Trailer': raw(line, `${webSocket}Trailer: x\r\n`, next),
    'with 8 bit': raw(line, `${webSocket}X: \xff\r\n`, next),
    'with hops': raw(line, `${webSocket}Busbar-Hops: 9999\r\n`, next),
    'with named fields': raw(
      line,
      `Connection: Upgrade, x-forwarded-for, x-keep\r\nX-Keep: 1\r\nUpgrade: foo\r\n`,
      next,
    ),
    'Connection without Upgrade': raw(line, 'Connection: Upgrade\r\n', next),
    'Upgrade without Connection': raw(line, 'Upgrade: foo\r\n', next),
    h2c: raw(
      line,
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n',
      next,
    ),
    'with a body': raw(
      `POST ${path} HTTP/1.1`,
      `Connection: Upgrade\r\nUpgrade: foo\r\nContent-Length: ${next.length}\r\n`,
      next + next,
    ),
    'with chunks': raw(
      `POST ${path} HTTP/1.1`,
      `Connection: Upgrade\r\nUpgrade: foo\r\n${chunked}`,
      helloInChunks + next,
    ),
    'HTTP/1.0': `GET ${path} HTTP/1.0\r\nHost: a\r\nConnection: upgrade, keep-alive\r\nUpgrade: x\r\n\r\n${next}`,
    refused: raw(`GET ${path}?refuse HTTP/1.1`, webSocket, next),
  }
}

/** Answers of every form, to each kind of request. */
function answers(path: string): Record<string, string> {
  const cases: Record<string, string> = {}
  for (const form of [
    'stream',
    'trailers',
    'empty',
    'length',
    'no-content',
    'not-modified',
    'reason',
    'fields',
    'close',
    'hints-of-two',
    'large-head',
    'many-fields',
  ])
    for (const line of ['GET', 'HEAD', 'POST'])
      cases[`${form}, ${line}`] = raw(
        `${line} ${path}?${form} HTTP/1.1`,
        line === 'POST' ? chunked : '',
        body(line) + next,
      )
  for (const form of ['hints', 'processing', 'upgrade-required', 'no-date', 'late', 'hangup', 'half', 'coding'])
    cases[form] = raw(`GET ${path}?${form} HTTP/1.1`, '', next)
  return cases
}

function body(line: string): string {
  return line === 'POST' ? helloInChunks : ''
}

const values = { CRLF: 'a\r\nX-Evil: 1', LF: 'a\nX', CR: 'a\rX', nul: 'a\0b', '8 bit': '\xff\xa0', tab: 'a\tb' }

export const turns: Corpus = {
  ...kind('turn', {
    'one alone': raw(get),
    'two at once': raw(get) + next,
    'one behind close': raw(get, 'Connection: close\r\n') + next,
    'two late ones': raw('GET /x?late HTTP/1.1') + raw('GET /shop/x?late HTTP/1.1') + next,
    'in two pieces': ['GET /x HT', `TP/1.1\r\nHost: a\r\n\r\n${next}`],
    'cut in the line': 'GET /x HT',
    'cut in the head': 'GET /x HTTP/1.1\r\nHost: a\r\nX:',
    nothing: '',
  }),
  ...kind('upgrade', upgrades('/shop/x')),
  ...kind('upgrade, entry', upgrades('/x')),
  ...kind('Expect', {
    '100-continue': raw(post, 'Expect: 100-continue\r\nContent-Length: 5\r\n', `hello${next}`),
    entry: raw('POST /x HTTP/1.1', 'Expect: 100-continue\r\nContent-Length: 5\r\n', `hello${next}`),
    'in chunks': raw(post, `Expect: 100-continue\r\n${chunked}`, helloInChunks + next),
    'without a body': raw(get, 'Expect: 100-continue\r\n', next),
    other: raw(post, 'Expect: 200-ok\r\nContent-Length: 5\r\n', `hello${next}`),
    twice: raw(post, 'Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 5\r\n', `hello${next}`),
    'too large': raw(post, 'Expect: 100-continue\r\nContent-Length: 9000000\r\n', next),
  }),
  ...kind('early answer', {
    'to a length': raw('POST /shop/x?early HTTP/1.1', 'Content-Length: 5\r\n', `hello${next}`),
    'to chunks': raw('POST /shop/x?early HTTP/1.1', chunked, helloInChunks + next),
    'to chunks, entry': raw('POST /x?early HTTP/1.1', chunked, helloInChunks + next),
    'to a body that does not come': [raw('POST /shop/x?early HTTP/1.1', 'Content-Length: 100000\r\n'), '', next],
  }),
  ...kind('answer', answers('/x')),
  ...kind('answer, route', answers('/shop/x')),
  ...kind(
    'answer with',
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        raw(`GET /x?value=${Buffer.from(value, 'latin1').toString('base64url')} HTTP/1.1`, '', next),
      ]),
    ),
  ),
  ...kind('large body', {
    'by length': raw(post, 'Content-Length: 2000000\r\n', 'x'.repeat(100)),
    'by length, entry': raw('POST /x HTTP/1.1', 'Content-Length: 900000\r\n', 'x'.repeat(900_000) + next),
    'in chunks': raw(post, chunked, `${(900_000).toString(16)}\r\n${'x'.repeat(900_000)}\r\n0\r\n\r\n${next}`),
  }),
}
