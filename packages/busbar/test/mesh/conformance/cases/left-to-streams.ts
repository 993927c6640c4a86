import { plain } from '../case.ts'
import type { Caller, Case } from '../case.ts'

/** Requests that the fast path leaves to a connection. */
export function leftToStreams(): readonly Case[] {
  const refused: [string, Parameters<Caller['send']>[0]][] = [
    ['a method that HTTP does not know', { method: 'BREW' }],
    ['a method that is no token', { method: 'GET /' }],
    ['CONNECT', { method: 'CONNECT', path: 'a.b:80' }],
    ['a path with a space', { path: '/a b' }],
    ['a path beyond ASCII', { path: '/ä' }],
    ['a path without a slash', { path: '*', method: 'OPTIONS' }],
    ['a header name with a space', { headers: ['bad name', 'x'] }],
    ['a header value with a line break', { headers: ['X-A', 'a\nb: c'] }],
    ['a header value in latin1', { headers: ['X-A', 'café'] }],
    ['a header value with spaces at its ends', { headers: ['X-A', ' a '] }],
    ['headers beyond the limit', { headers: ['X-A', 'x'.repeat(20_000)] }],
    ['an upgrade', { headers: ['Upgrade', 'h2c'], connection: 'upgrade' }],
    [
      'a connection field that closes, and one that does not',
      { headers: ['Connection', 'keep-alive'], connection: 'close' },
    ],
    ['a length and chunks', { headers: ['Content-Length', '1', 'Transfer-Encoding', 'chunked'] }],
    ['a length that is not a number', { headers: ['Content-Length', 'x'] }],
    ['a length that the body does not have', { method: 'POST', body: 'ab', headers: ['Content-Length', '5'] }],
    ['another transfer coding', { headers: ['Transfer-Encoding', 'gzip'] }],
  ]
  return refused.map(([name, options]) =>
    plain(
      `left to a byte stream: ${name}`,
      (_, response) => response.end('x'),
      async (caller) => {
        await caller.open(options).outcome()
      },
      { handedOver: true },
    ),
  )
}
