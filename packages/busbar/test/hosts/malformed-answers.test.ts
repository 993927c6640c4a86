import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { TestApp } from '../support/app/test-app.ts'
import { isWanted } from '../support/mesh/wanted-accelerators.ts'
import { RawHost } from './support/raw-host.ts'
import { program } from './support/two-apps.ts'

const fields = (...texts: string[]): string => texts.join('\u007f')

/** More than any client accepts, and all fields have different names. */
const many = Array.from({ length: 300_000 }, (_, at) => `n${at}\u007f`).join('\u007f')

/** A whole answer in one frame. */
const reply =
  (...head: readonly unknown[]) =>
  (call: number): unknown[] => [[2, -call, 1, 1, head]]

/** An answer whose parts follow its head. */
const stream =
  (...parts: readonly (readonly unknown[])[]) =>
  (call: number): unknown[] => [
    [2, -call, 0, 1, [200, 'OK', '']],
    ...parts.map(([type, ...rest]) => [type, -call, ...rest]),
  ]

const whole: Readonly<Record<string, (call: number) => unknown[]>> = {
  'no-trailers': reply(200, 'OK', fields('content-length', '2'), 'hi', null),
  'no-trailers-of-a-stream': stream([3, 1, 'hi'], [4, 1, null]),
  longer: reply(200, 'OK', fields('content-length', '2'), 'hi there'),
  'longer-in-pieces': (call) => [
    [2, -call, 0, 1, [200, 'OK', fields('content-length', '2')]],
    [3, -call, 1, 'hi'],
    [3, -call, 1, 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged'],
    [4, -call, 0],
  ],
}

const malformed: Readonly<Record<string, (call: number) => unknown[]>> = {
  'no-list': (call) => [[2, -call, 1, 1, 5]],
  nothing: (call) => [[2, -call, 1, 1, null]],
  'status-of-text': reply('200', 'OK', '', 'hi'),
  'large-status': reply(1000, 'OK', '', 'hi'),
  'last-head-of-information': reply(100, 'Continue', '', 'hi'),
  'text-with-a-line-end': reply(200, 'OK\r\nx: y', '', 'hi'),
  'fields-of-a-number': reply(200, 'OK', 5, 'hi'),
  'name-without-a-value': reply(200, 'OK', fields('a', 'b', 'c'), 'hi'),
  'value-with-a-line-end': reply(200, 'OK', fields('a', 'b\r\nset-cookie: c=1'), 'hi'),
  'name-with-a-line-end': reply(200, 'OK', fields('a\r\nb: c', 'd'), 'hi'),
  'name-of-nothing': reply(200, 'OK', fields('', 'b'), 'hi'),
  'value-beyond-latin-1': reply(200, 'OK', fields('a', '漢'), 'hi'),
  'length-of-nothing': reply(200, 'OK', fields('content-length', ''), 'hi'),
  'length-that-is-no-number': reply(200, 'OK', fields('content-length', '2e0'), 'hi'),
  'length-that-is-too-large': reply(200, 'OK', fields('content-length', '99999999999999999999'), 'hi'),
  'length-twice': reply(200, 'OK', fields('content-length', '2', 'content-length', '2'), 'hi'),
  'length-beside-a-coding': reply(200, 'OK', fields('content-length', '2', 'transfer-encoding', 'chunked'), 'hi'),
  'fields-of-more-than-a-head': reply(200, 'OK', many, 'hi'),
  'information-of-more-than-a-head': (call) => [
    [2, -call, 0, 1, [103, '', many]],
    [3, -call, 1, [200, 'OK', '']],
    [4, -call, 0],
  ],
  'change-of-protocol': (call) => [
    [2, -call, 0, 1, [101, '', fields('connection', 'upgrade', 'upgrade', 'websocket')]],
    [3, -call, 1, [200, 'OK', '']],
    [4, -call, 0],
  ],
  'body-of-a-number': reply(200, 'OK', '', 55),
  'trailers-of-a-number': reply(200, 'OK', '', 'hi', 5),
  'trailers-in-a-list': reply(200, 'OK', '', 'hi', ['a', 'b']),
  'trailer-of-nothing': reply(200, 'OK', '', 'hi', { a: null }),
  'trailer-with-a-line-end': reply(200, 'OK', '', 'hi', { 'a\r\nb': 'c' }),
  'trailers-of-more-than-a-head': reply(200, 'OK', '', 'hi', { a: 'b'.repeat(2 ** 20) }),
  'piece-of-a-number': stream([3, 1, 55]),
  'piece-of-an-object': stream([3, 1, { a: 1 }]),
  'end-with-a-number': stream([3, 1, 'hi'], [4, 1, 5]),
  'end-with-a-line-end': stream([3, 1, 'hi'], [4, 1, { a: 'b\nc' }]),
  'error-of-objects': (call) => [
    [
      5,
      -call,
      0,
      1,
      { code: 'INTERNAL', message: 'no', hint: { a: 1 }, service: [], stack: 5, data: { retryAfter: {} } },
    ],
  ],
}

const held = new Set<number>()

function answer(path: string, call: number): readonly unknown[] | undefined {
  const name = path.slice(1)
  if (name === 'held') held.add(call)
  return (whole[name] ?? malformed[name])?.(call)
}

/** Connections carry bytes, also those of the gateway if it has no exchanges. */
const ways = isWanted('exchange') ? ['fetch', 'gateway', ...(isWanted('stream') ? ['http'] : [])] : []

describe('a host of another app that answers an HTTP request with what is no answer', () => {
  for (const way of ways)
    it(`fails that request alone: ${way}`, async () => {
      held.clear()
      await using host = await RawHost.open('stock', answer)
      await using near = await TestApp.start({
        name: 'near',
        services: { web: program('web.js') },
        remotes: [{ name: 'stock', addresses: [host.address] }],
        gateway: { routes: [{ host: undefined, prefix: '/stock', service: 'stock' }] },
      })
      const ask = async (name: string): Promise<{ status: number; body: string }> =>
        way === 'gateway' ? await read(`${near.url}/stock/${name}`) : await inProgram(`${near.url}/${way}/${name}`)
      const other = ask('held')
      while (held.size === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      const { links } = host
      for (const name of Object.keys(whole)) assert.deepEqual(await ask(name), { status: 200, body: 'hi' }, name)
      for (const name of Object.keys(malformed)) {
        const { status, body } = await ask(name)
        assert.ok(status === 0 || status >= 500, `${name}: ${status} ${body}`)
        assert.deepEqual(await ask('no-trailers'), { status: 200, body: 'hi' })
      }
      for (const call of held) host.send(whole['no-trailers']!(call))
      assert.deepEqual(await other, { status: 200, body: 'hi' })
      assert.deepEqual([near.running.workers.map(({ deaths }) => deaths), host.links], [[0], links])
    })
})

it('a response of another app may have as large a head as its client accepts', async () => {
  const head = [200, 'OK', fields('content-length', '2', 'large', 'x'.repeat(40_000)), 'hi']
  await using host = await RawHost.open('stock', (_path, call) => [[2, -call, 1, 1, head]])
  await using near = await TestApp.start({
    name: 'near',
    services: { web: program('web.js') },
    remotes: [{ name: 'stock', addresses: [host.address] }],
    gateway: { routes: [{ host: undefined, prefix: '/stock', service: 'stock' }] },
  })
  if (!isWanted('exchange')) return
  const [response] = (await once(get(`${near.url}/stock/large`, { maxHeaderSize: 65_536 }), 'response')) as [
    IncomingMessage,
  ]
  assert.deepEqual([response.headers['large']?.length, await text(response)], [40_000, 'hi'])
  assert.equal((await inProgram(`${near.url}/fetch/large`)).status, 0)
  if (!isWanted('stream')) return
  assert.equal((await inProgram(`${near.url}/http/large`)).status, 0)
  assert.deepEqual(await inProgram(`${near.url}/raised/large`), { status: 200, body: 'hi' })
})

/** The status is 0 if the answer is not complete. */
async function read(url: string): Promise<{ status: number; body: string }> {
  const response = await fetch(url)
  return await response.text().then(
    (body) => ({ status: response.status, body }),
    (error: Error) => ({ status: 0, body: error.message }),
  )
}

/** As the program `web` has seen it. */
async function inProgram(url: string): Promise<{ status: number; body: string }> {
  const { status = 0, body = '' } = (await (await fetch(url)).json()) as { status?: number; body?: string }
  return { status, body }
}
