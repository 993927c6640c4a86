import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { client, safe } from '../../src/contract/client-entry.ts'
import { service } from '../../src/contract/index.ts'
import { fastifyPlugin } from '../../src/gateway/typed/adapters/index.ts'
import { NotesApp, versions, post, notes, log } from './support/fastify-notes.ts'

for (const [version, fastify] of versions) {
  const served = new NotesApp(fastify)

  describe(`a typed service in ${version}`, () => {
    it(
      'accepts and returns every kind of value',
      served.during(async (url) => {
        const api = client(notes, url)
        assert.deepEqual(await api.add({ text: 'a', at: new Date(7) }), { text: 'a', at: new Date(7) })
        assert.deepEqual(await api.note({ id: 'a/b ü', q: 3 }), { id: 'a/b ü', q: 3 })
        assert.equal(await api.top(), 'top')
        assert.equal(await api.drop({ id: '1' }), undefined)
        assert.equal(await api.sum([1, 2]), 3)
        const values = [
          null,
          undefined,
          'text',
          '',
          0,
          false,
          [],
          {},
          [1, [2]],
          12n,
          NaN,
          new Date(0),
          new Map([['a', 1]]),
        ]
        const more = [new Set([1]), Uint8Array.of(1, 255), { $x: 1 }, { date: new Date(1) }, 'ü€😀']
        for (const value of [...values, ...more]) assert.deepEqual(await api.echo(value), value)
      }),
    )

    it(
      'responds like any other typed service',
      served.during(async (url) => {
        const made = await post(`${url}/notes/add`, { text: 'a' })
        assert.deepEqual([made.status, made.headers.get('content-type')], [201, 'application/json'])
        assert.equal(made.headers.get('content-length'), '12')
        assert.equal(await made.text(), '{"text":"a"}')
        const short = await post(`${url}/add`, { text: 'a' })
        assert.equal(short.status, 201)
        const dropped = await fetch(`${url}/notes/1`, { method: 'DELETE' })
        assert.deepEqual([dropped.status, dropped.headers.get('content-length')], [204, null])
        const head = await fetch(`${url}/notes/top`, { method: 'HEAD' })
        assert.deepEqual([head.status, head.headers.get('content-length')], [200, '5'])
        const tagged = await post(`${url}/notes/tagged`, '')
        assert.equal(tagged.headers.get('x-cache'), 'hit')
        const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object }
        assert.ok('/notes/{id}' in document.paths)
      }),
    )

    it(
      'responds to failures with problem details, which clients parse',
      served.during(async (url) => {
        const api = client(notes, url)
        const [taken] = await safe(api.add({ text: 'taken' }))
        assert.equal(taken?.code, 'TAKEN')
        if (taken?.code === 'TAKEN') assert.deepEqual([taken.status, taken.data], [409, { text: 'taken' }])
        const [invalid] = await safe(api.add({ text: 7 } as never))
        assert.equal(invalid?.code, 'INPUT_INVALID')
        for (const method of ['breaks', 'wrong'] as const) {
          const response = await post(`${url}/notes/${method}`, '')
          assert.equal(response.status, 500)
          assert.equal(response.headers.get('content-type'), 'application/problem+json')
          assert.doesNotMatch(await response.text(), /secret/)
        }
        const malformed = await post(`${url}/notes/add`, '{')
        assert.deepEqual(
          [malformed.status, ((await malformed.json()) as { code: string }).code],
          [400, 'REQUEST_MALFORMED'],
        )
        const polluted = await post(`${url}/notes/echo`, '{"a":1,"__proto__":{"b":1}}')
        assert.equal(polluted.status, 422)
        const marked = await post(`${url}/notes/add`, '\ufeff{"text":"a"}')
        assert.equal(marked.status, 201)
        const encoded = await post(`${url}/notes/add`, gzipSync('{"text":"a"}'), { 'content-encoding': 'gzip' })
        assert.equal(encoded.status, 415)
        const form = await fetch(`${url}/notes/add`, { method: 'POST', body: new URLSearchParams({ text: 'a' }) })
        assert.equal(form.status, 415)
        assert.deepEqual(served.calls.made, ['add', 'add'].slice(0, served.calls.made.length))
      }),
    )

    it(
      'streams; a failure before the first value is a response without a stream',
      served.during(async (url) => {
        const api = client(notes, url)
        const words: string[] = []
        for await (const word of api.words({ text: 'a b' })) words.push(word)
        assert.deepEqual(words, ['a', 'b'])
        const late = api.late()
        assert.equal((await late.next()).value, 1)
        await assert.rejects(late.next(), { code: 'INTERNAL' })
        await assert.rejects(api.refused().next(), { code: 'DRY', status: 410 })
        const events = await fetch(`${url}/words/a`, { headers: { accept: 'text/event-stream' } })
        assert.equal(events.headers.get('content-type'), 'text/event-stream')
        assert.equal(await events.text(), 'data: "a"\n\nevent: end\ndata:\n\n')
        assert.equal((await fetch(`${url}/words/a`, { method: 'HEAD' })).status, 404)
      }),
    )

    it(
      'cancels a call when its client disconnects',
      served.during(async (url) => {
        const { port } = new URL(url)
        const socket = connect(Number(port), '127.0.0.1')
        socket.write(
          'POST /api/notes/hang HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n"a"',
        )
        await served.calls.began.promise
        socket.destroy()
        assert.equal(await served.calls.left.promise, 'CALL_ABORTED')
      }),
    )

    it(
      'produces values on demand, and ends a stream when its client disconnects',
      served.during(async (url) => {
        const { port } = new URL(url)
        const socket = connect(Number(port), '127.0.0.1')
        socket.write('POST /api/notes/endless HTTP/1.1\r\nhost: x\r\n\r\n')
        await once(socket, 'data')
        socket.destroy()
        assert.equal(await served.calls.left.promise, 'left')
      }),
    )
  })

  describe(`a class without a contract in ${version}`, () => {
    it('has its methods', async () => {
      class Calculator {
        add(a: number, b: number): number {
          return a + b
        }
      }
      const calc = service.from('calc', () => new Calculator())
      const app = served.create()
      await app.register(fastifyPlugin(calc, { log }), { prefix: '/api' })
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      assert.equal(await client(calc, `${url}/api`).add(1, 2), 3)
      assert.equal((await post(`${url}/api/calc/subtract`, [1, 2])).status, 404)
      await served.app.close()
    })
  })
}
