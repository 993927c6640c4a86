import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RequestCounter } from '../../../src/mesh/sockets/instance/request-counter.ts'

const get = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
const post = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody'
const upgrade = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n'
const fine = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine'
const part = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfine'

interface Case {
  readonly sent: string
  readonly received: string
  /** How the connection ends. Default: it stays. */
  readonly end?: 'closed' | 'lost' | 'ended' | 'refused'
  readonly counts: string
}

const cases: Readonly<Record<string, Case>> = {
  'a request without a body': { sent: get, received: fine, counts: 'GET 200' },
  'requests that follow each other': {
    sent: post + get + post,
    received: fine + fine + fine,
    counts: 'POST 200, GET 200, POST 200',
  },
  'a body in chunks, with a trailer': {
    sent: `PUT / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5;x=1\r\n\r\n\r\nG\r\n0\r\nx: 1\r\n\r\n${get}`,
    received: `HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nx: 1\r\n\r\n${fine}`,
    counts: 'PUT 201, GET 200',
  },
  'interim responses': {
    sent: get,
    received: `HTTP/1.1 103 Hints\r\nlink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${fine}`,
    counts: 'GET 200',
  },
  'responses that have no body, whatever they say': {
    sent: `HEAD / HTTP/1.1\r\n\r\n${get}${get}${get}`,
    received: `HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nHTTP/1.1 204 None\r\ntransfer-encoding: chunked\r\n\r\nHTTP/1.1 304 Same\r\ncontent-length: 4\r\n\r\n${fine}`,
    counts: 'HEAD 200, GET 204, GET 304, GET 200',
  },
  'a response that the end of the connection completes': {
    sent: get,
    received: 'HTTP/1.0 200 OK\r\n\r\nfine',
    end: 'ended',
    counts: 'GET 200',
  },
  'a response that is cut off': { sent: get, received: part, end: 'ended', counts: 'GET 0' },
  'a failure that is cut off': { sent: get, received: part.replace('200', '500'), end: 'lost', counts: 'GET 500' },
  'a response that is lost': { sent: get, received: part, end: 'lost', counts: 'GET 0' },
  'a response that the caller leaves': { sent: get, received: part, end: 'closed', counts: 'GET 200' },
  'a caller that leaves before the response': { sent: get, received: '', end: 'closed', counts: 'GET 0' },
  'what follows a response that ends with its connection': {
    sent: get + get,
    received: 'HTTP/1.1 200 OK\r\n\r\nfine',
    end: 'ended',
    counts: 'GET 200, GET 0',
  },
  'chunks that are none': {
    sent: get,
    received: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n',
    end: 'closed',
    counts: 'GET 0',
  },
  'a response that is none': { sent: get, received: 'hello\r\n\r\n', end: 'closed', counts: 'GET 0' },
  'a response that nobody has asked for': { sent: '', received: fine, end: 'ended', counts: '' },
  'an upgrade': {
    sent: `${upgrade}GET / HTTP/1.1\r\n\r\n`,
    received: `HTTP/1.1 101 Yes\r\n\r\n${fine}`,
    end: 'closed',
    counts: 'GET 101, GET 0',
  },
  'an upgrade that is refused, at the head': { sent: upgrade, received: part.replace('200', '403'), counts: 'GET 403' },
  'a request after a refused upgrade': { sent: upgrade + post, received: fine + fine, counts: 'GET 200, POST 200' },
  'a tunnel': {
    sent: `CONNECT a:1 HTTP/1.1\r\n\r\n${fine}`,
    received: `HTTP/1.1 200 OK\r\n\r\n${get}`,
    end: 'closed',
    counts: 'CONNECT 200',
  },
  'a connection of HTTP/2': { sent: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', received: fine, end: 'closed', counts: '' },
  'another protocol': { sent: '*1\r\n$4\r\nPING\r\n\r\n', received: '+PONG\r\n', end: 'closed', counts: '' },
  'a connection that is refused': { sent: get, received: '', end: 'refused', counts: '' },
}

describe('the requests of a connection', () => {
  for (const [what, one] of Object.entries(cases))
    for (const pieces of [Infinity, 1, 7])
      it(`count exactly: ${what}, in ${pieces === Infinity ? 'one piece' : `pieces of ${pieces}`}`, () => {
        assert.equal(countsOf(one, pieces).join(', '), one.counts)
      })

  it('leave none open', () => {
    let open = 0
    const counter = new RequestCounter(() => ({ ...edge, begin: () => void open++, end: () => open-- }))
    counter.sent(Buffer.from(get + get))
    assert.equal(open, 2)
    counter.received(Buffer.from(fine))
    assert.equal(open, 1)
    counter.closed(false)
    assert.equal(open, 0)
  })
})

const edge = { begin: (): undefined => undefined, end() {}, retried() {}, withdraw() {} }

function countsOf({ sent, received, end }: Case, length: number): string[] {
  const counts: string[] = []
  const counter = new RequestCounter((method) => ({
    ...edge,
    end: (status) => void counts.push(`${method} ${status}`),
  }))
  for (const piece of piecesOf(sent, length)) counter.sent(piece)
  for (const piece of piecesOf(received, length)) counter.received(piece)
  if (end === 'ended') counter.ended()
  if (end === 'refused') counter.refused()
  else if (end !== undefined) counter.closed(end === 'lost')
  return counts
}

function piecesOf(text: string, length: number): Buffer[] {
  const bytes = Buffer.from(text, 'latin1')
  const step = Math.min(length, Math.max(1, bytes.length))
  return Array.from({ length: Math.ceil(bytes.length / step) }, (_, at) => bytes.subarray(at * step, (at + 1) * step))
}
