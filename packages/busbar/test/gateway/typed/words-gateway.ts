import { setTimeout as sleep } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import * as z from 'zod'
import { startHost } from '../../../src/contract/host/typed-host.ts'
import { client } from '../../../src/contract/client/client.ts'
import { HttpHandler } from '../../../src/contract/http/http-handler.ts'
import { fn, service, stream, type } from '../../../src/contract/index.ts'
import { typedListener } from '../../../src/gateway/typed/request-listener.ts'
import { type GatewaySetup, TestGateway } from '../../support/http/test-gateway.ts'

const Text = z.object({ text: z.string() })

const words = service('words', {
  echo: fn({ input: Text, output: Text }),
  /** Responds after `ms` milliseconds. */
  later: fn({ input: z.object({ ms: z.int() }), output: z.int() }),
  found: fn({ input: z.object({ id: z.string() }), output: Text, http: 'GET /words/{id}', status: 203 }),
  nothing: fn({}),
  named: fn({ output: Text }),
  /** Sets lists, as code without types can. */
  listed: fn({ output: Text }),
  refused: fn({ errors: { NOT_THERE: z.object({ why: z.string() }) } }),
  broken: fn({ output: Text }),
  untyped: fn({ output: type<unknown>() }),
  /** Larger than what is sent ahead of a client. */
  large: fn({ output: Text }),
  heard: fn({ output: z.record(z.string(), z.string()) }),
  /** Its result is a thenable but not a Promise, like the queries of some database clients. */
  query: fn({ output: Text }),
  count: stream({ output: z.int() }),
})

export const aborted: string[] = []
export const begun = { echo: 0 }
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const implementation = words.implement({
  echo(input) {
    begun.echo++
    return input
  },
  async later({ ms }, { signal }) {
    signal.addEventListener('abort', () => aborted.push(`after ${ms}`))
    await sleep(ms, undefined, { signal })
    return ms
  },
  found: async ({ id }) => ({ text: id }),
  nothing() {},
  named(_, { setHeader }) {
    setHeader('x-name', 'words')
    return { text: 'named' }
  },
  listed(_, { setHeader }) {
    setHeader('set-cookie', ['a=1', 'b=2'] as never)
    setHeader('x-none', [] as never)
    return { text: 'listed' }
  },
  refused: (_, { fail }) => fail('NOT_THERE', { why: 'it is not' }),
  broken: () => ({ text: 1 }) as never,
  untyped: async () => ({ list: [1, 'zwei', null], text: 'größer €' }),
  large: () => ({ text: 'größer €'.repeat(100_000) }),
  heard: (_, { metadata }) => ({ ...metadata }),
  query: () => runInNewContext("Promise.resolve({ text: 'a row' })") as never,
  async *count() {
    yield 1
    yield 2
  },
})

export type Host = 'by the gateway' | 'by a server of its own'

export async function start(way: Host, limits: GatewaySetup['limits'] = {}): Promise<TestGateway> {
  const host = await startHost(implementation, { name: 'words', log: silent, clone: false, maxInFlight: 5000, client })
  const cors = ['https://page.example']
  const handler = new HttpHandler(host, { maxInputSize: 1000 })
  const listener = typedListener(host, { maxInputSize: 1000, cors }, handler)
  return TestGateway.start({
    services: {
      words: way === 'by the gateway' ? { listener, handler, typed: host } : listener,
      web(req, res) {
        const [, ms = '0'] = /(\d+)$/.exec(req.url!) ?? []
        req.resume().on('end', () => setTimeout(() => res.end(`web ${req.url}`), Number(ms)))
      },
    },
    routes: { '/api': 'words', '/web': 'web' },
    limits: { keepAliveTimeout: 1000, ...limits },
    cors,
  })
}

export function post(path: string, body?: unknown, more = ''): string {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const type = body === undefined ? '' : 'Content-Type: application/json\r\n'
  return `POST /api/${path} HTTP/1.1\r\nHost: a\r\n${type}${more}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${Buffer.from(text).toString('latin1')}`
}

export function get(path: string, more = '', version = '1.1'): string {
  return `GET ${path} HTTP/${version}\r\nHost: a\r\n${more}\r\n`
}

export const bye = get('/web/bye', 'Connection: close\r\n')
export const echo = (text: string): string => post('echo', { text })

export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(2)
}
