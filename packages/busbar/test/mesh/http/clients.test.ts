import { deepStrictEqual, equal, notEqual, ok, rejects } from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { after, before, suite, test } from 'node:test'
import { startMesh, type Mesh } from '../../../src/mesh/mesh.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { currentScope } from '../../../src/mesh/scope.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'
import { loadInstalled, ProgramFolder, versions, type Undici } from './support/copies.ts'
import { exchanges, streams, unless } from '../../support/mesh/accelerators.ts'

/** Every client calls a service by one of these. */
type Call = (url: string) => Promise<{ status: number; text: string }>

suite('clients of the mesh', () => {
  const store = new AsyncLocalStorage<string>()
  const builtin = { fetch: globalThis.fetch }
  const slots = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')]
  const folders = versions.map((version) => new ProgramFolder(version))
  let mesh: Mesh
  let endpoint: TestEndpoint
  let calls: Record<string, Call>
  let port = 4000
  const dispatchersBefore = () => slots.map((slot) => Reflect.get(globalThis, slot) as unknown)
  let dispatchers: unknown[]

  before(async () => {
    const installed = versions.map((version) => loadInstalled(version))
    void globalThis.Response
    dispatchers = dispatchersBefore()
    const router = new Router(['self'])
    endpoint = new TestEndpoint('self', program)
    router.add(endpoint)
    mesh = await startMesh({ router, maxHops: 4, exchanges, streams })
    const copies = [...installed, ...folders.map((folder) => folder.load())]
    calls = { fetch: byFetch }
    for (const [at, copy] of copies.entries())
      calls[`${at < 3 ? 'dispatched' : 'wrapped'} ${versions[at % 3]}`] = byRequest(copy)
  })
  after(async () => {
    await mesh[Symbol.asyncDispose]()
    await endpoint[Symbol.asyncDispose]()
    for (const folder of folders) folder[Symbol.dispose]()
    equal(globalThis.fetch, builtin.fetch)
    deepStrictEqual(dispatchersBefore(), dispatchers)
  })

  /**
   * Answers with what it sees of its caller's context. `/again` calls itself by the query's client,
   * and forwards the response.
   */
  const program: RequestListener = (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://self')
    if (pathname === '/again') {
      const call = calls[searchParams.get('by')!]!
      void call(`http://self.internal${request.url!}`).then(({ status, text }) => response.writeHead(status).end(text))
    } else if (pathname === '/traced') response.end(request.headers['x-trace'] ?? 'untraced')
    else if (pathname === '/chunks') {
      response.write('one')
      setTimeout(() => response.end('two'), 5)
    } else if (pathname === '/cut') {
      response.write('start')
      process.nextTick(() => response.destroy())
    } else response.end(JSON.stringify({ store: store.getStore() ?? 'none', scope: currentScope() }))
  }

  function each(name: string, check: (call: Call, by: string) => Promise<void>, skip: string | false = false): void {
    test(name, { skip }, async () => {
      for (const [by, call] of Object.entries(calls)) await check(call, by)
    })
  }

  each(
    'need no socket',
    async (call, by) => {
      let sockets = 0
      const count = () => sockets++
      subscribe('net.client.socket', count)
      equal((await call('http://self.internal/')).status, 200)
      unsubscribe('net.client.socket', count)
      equal(sockets, 0, by)
    },
    unless('exchange'),
  )

  each('do not show their context to the program, and keep it themselves', async (call, by) => {
    await store.run("the caller's", async () => {
      const { text } = await call('http://self.internal/')
      deepStrictEqual(JSON.parse(text), { store: 'none', scope: { service: 'self', hops: 1 } }, by)
      equal(store.getStore(), "the caller's")
      equal(currentScope(), undefined)
    })
  })

  test('keep it in the listeners of a body', async () => {
    for (const folder of folders) {
      const { body } = await store.run("the caller's", () => folder.load().request('http://self.internal/chunks'))
      const seen = new Set<string | undefined>()
      store.run("the listener's", () => body.on('data', () => seen.add(currentScope()?.service)))
      await once(body, 'end')
      deepStrictEqual([...seen], [undefined])
    }
  })

  each('stop calling themselves at the limit, with 508', async (call, by) => {
    const { status, text } = await call(`http://self.internal/again?by=${encodeURIComponent(by)}`)
    equal(status, 508, by)
    const problem = JSON.parse(text) as { code: string; status: number }
    deepStrictEqual([problem.code, problem.status], ['HOP_LIMIT', 508])
  })

  test('are visible to tracing of undici, which may add a header', async () => {
    const published: string[] = []
    const add = (message: unknown) => {
      published.push('create')
      ;(message as { request: { addHeader(name: string, value: string): void } }).request.addHeader('x-trace', 'traced')
    }
    const note = () => published.push('headers')
    subscribe('undici:request:create', add)
    subscribe('undici:request:headers', note)
    try {
      for (const [by, call] of Object.entries(calls)) {
        published.length = 0
        equal((await call('http://self.internal/traced')).text, 'traced', by)
        deepStrictEqual(published, ['create', 'headers'], by)
      }
    } finally {
      unsubscribe('undici:request:create', add)
      unsubscribe('undici:request:headers', note)
    }
    ok(channel('undici:request:create').hasSubscribers)
    equal((await calls['fetch']!('http://self.internal/traced')).text, 'untraced')
  })

  each('are visible to tracing that only watches connections', async (call, by) => {
    let connections = 0
    const note = () => connections++
    subscribe('undici:client:connected', note)
    try {
      // No connection to this port is kept.
      await call(`http://self.internal:${port++}/`)
      equal(connections, 1, by)
    } finally {
      unsubscribe('undici:client:connected', note)
    }
  })

  test('report a response that breaks in the turn of its head', async () => {
    const copies = [
      { fetch },
      ...versions.map((version) => loadInstalled(version)),
      ...folders.map((one) => one.load()),
    ]
    for (const copy of copies) {
      const response = await copy.fetch('http://self.internal/cut')
      await rejects(response.text(), { name: 'TypeError' })
    }
  })

  test('of undici 5 work, although the mesh replaces nothing of it', async () => {
    const { fetch: call, request } = loadInstalled('undici5')
    equal(await call('http://self.internal/chunks').then((answer) => answer.text()), 'onetwo')
    equal(await request('http://self.internal/chunks').then(({ body }) => body.text()), 'onetwo')
  })

  test('may make many calls at once', async () => {
    const all = Object.values(calls).flatMap((call) => Array.from({ length: 100 }, () => call('http://self.internal/')))
    for (const { status } of await Promise.all(all)) equal(status, 200)
  })

  test(
    'of the network have the dispatcher that their copy would have without a mesh',
    { skip: unless('exchange') },
    () => {
      for (const folder of folders) {
        const copy = folder.load()
        const dispatcher = copy.getGlobalDispatcher()
        ok(dispatcher instanceof copy.Agent)
        notEqual(Reflect.get(globalThis, slots[0]!), dispatcher)
        equal(copy.getGlobalDispatcher(), dispatcher)
      }
    },
  )
})

const byFetch: Call = async (url) => {
  const response = await fetch(url)
  return { status: response.status, text: await response.text() }
}

function byRequest({ request }: Undici): Call {
  return async (url) => {
    const { statusCode, body } = await request(url)
    return { status: statusCode, text: await body.text() }
  }
}
