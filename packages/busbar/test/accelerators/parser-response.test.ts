import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { ParserResponse, type Parser } from '../../src/accelerators/exchange/undici/parser-response.ts'

/** A parser whose limit of a head is one field. */
function smallParser(socket: Socket): { readonly parser: Parser; readonly calls: string[] } {
  const calls: string[] = []
  const note = (call: string) => (): number => {
    calls.push(call)
    return 0
  }
  const parser = {
    paused: false,
    timeout: null,
    shouldKeepAlive: true,
    resume: () => {},
    finish: () => null,
    createError: () => new Error('incomplete'),
    onMessageBegin: note('begin'),
    onStatus: (text: Buffer) => note(`status ${text.toString()}`)(),
    onHeaderField: note('name'),
    onHeaderValue() {
      if (calls.filter((call) => call === 'name').length > 1) socket.destroy()
      return note('value')()
    },
    onHeadersComplete: () => (socket.destroyed ? -1 : note('head')()),
    onBody: note('body'),
    onMessageComplete: note('complete'),
  }
  return { parser, calls }
}

test('undici reads no more fields of a head that is beyond its limit', () => {
  const socket = new Socket()
  const { parser, calls } = smallParser(socket)
  const rawHeaders = Array.from({ length: 100 }, (_, n) => [`x-${n}`, 'v']).flat()
  new ParserResponse(parser, socket).onHead({ status: 200, statusText: 'OK', headers: {}, rawHeaders })
  assert.deepEqual(calls, ['begin', 'status OK', 'name', 'value', 'name', 'value'])
})

test('a response whose trailers are beyond the limit is not complete', () => {
  const socket = new Socket()
  const { parser, calls } = smallParser(socket)
  const response = new ParserResponse(parser, socket)
  response.onHead({ status: 200, statusText: '', headers: {}, rawHeaders: [] })
  response.onEnd({ a: 'b', c: 'd', e: 'f' })
  assert.deepEqual(calls, ['begin', 'head', 'name', 'value', 'name', 'value'])
})

test('undici gets the text of a status below 200', () => {
  const socket = new Socket()
  const { parser, calls } = smallParser(socket)
  new ParserResponse(parser, socket).onInformation(103, { link: '</a.css>' })
  assert.deepEqual(calls, ['begin', 'status Early Hints', 'name', 'value', 'head', 'complete'])
})
