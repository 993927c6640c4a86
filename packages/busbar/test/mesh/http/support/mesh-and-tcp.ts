import dns from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RemoteEndpoint } from '../../../../src/mesh/routing/endpoint.ts'
import { Router } from '../../../../src/mesh/routing/router.ts'
import { startMesh, type Mesh } from '../../../../src/mesh/mesh.ts'
import { exchanges, streams } from '../../../support/mesh/accelerators.ts'
import { way } from '../../../support/mesh/byte-mesh.ts'
import { TestEndpoint } from '../../../support/mesh/test-endpoint.ts'
import { linkedEndpoint } from '../../../support/mesh/linked-endpoint.ts'
import { createProgram, type Seen } from './program.ts'

/** One program, reached in two ways: over the mesh, and over a real port without the mesh. */
export interface Side {
  readonly name: 'mesh' | 'tcp'
  /** What the program's URLs start with. */
  readonly at: string
  /** A second service, which is another origin. */
  readonly other: string
  /** The calls the program has got so far. */
  readonly seen: Seen[]
}

export interface Sides extends AsyncDisposable {
  readonly mesh: Side
  readonly tcp: Side
  readonly router: Router
}

/** `other` runs the same program as `catalog`. `absent` is a service without a serving instance. */
export async function openSides(): Promise<Sides> {
  const router = new Router(['catalog', 'other', 'absent'])
  const seen = { mesh: [] as Seen[], tcp: [] as Seen[] }
  const endpoints = ['catalog', 'other'].map(
    (name) =>
      new TestEndpoint(
        name,
        createProgram((call) => seen.mesh.push(call)),
      ),
  )
  const links = new DisposableStack()
  for (const endpoint of endpoints)
    if (way.overLink || way.toHost) router.addRemote(links.use(linked(endpoint)))
    else router.add(endpoint)
  const servers = [0, 1].map(() => createServer(createProgram((call) => seen.tcp.push(call))).listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const restoreLookup = resolveTestNames()
  const [first, second] = servers.map((server) => `http://tcp.test:${(server.address() as AddressInfo).port}`)
  const mesh: Mesh = await startMesh({ router, maxHops: 5, exchanges, streams })
  return {
    router,
    mesh: { name: 'mesh', at: 'http://catalog.internal', other: 'http://other.internal', seen: seen.mesh },
    tcp: { name: 'tcp', at: first!, other: second!, seen: seen.tcp },
    async [Symbol.asyncDispose]() {
      await mesh[Symbol.asyncDispose]()
      restoreLookup()
      links.dispose()
      for (const endpoint of endpoints) await endpoint[Symbol.asyncDispose]()
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
        await once(server, 'close')
      }
      // The dispatcher that all suites of a process share sees in the next turns that its
      // connections ended.
      for (let turn = 0; turn < 3; turn++) await nextTurn()
    },
  }
}

function linked(endpoint: TestEndpoint): RemoteEndpoint & Disposable {
  const remote = linkedEndpoint(endpoint)
  return way.toHost ? Object.assign(remote, { host: 'tcp:the other app' }) : remote
}

/**
 * Names below `.test` resolve to this machine. Clients treat a loopback address as a trustworthy
 * origin and send it other headers, so the TCP side needs a name too.
 */
function resolveTestNames(): () => void {
  const { lookup } = dns
  const own = (name: string, ...rest: unknown[]): unknown =>
    Reflect.apply(lookup, dns, [name.endsWith('.test') ? '127.0.0.1' : name, ...rest])
  dns.lookup = Object.assign(own, lookup) as typeof lookup
  return () => void (dns.lookup = lookup)
}

/** Headers that exist only on a connection. */
const ofConnection = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding'])

export function comparableHeaders(headers: Iterable<readonly [string, unknown]>): unknown[] {
  return [...headers].filter(([name]) => !ofConnection.has(name)).map(([name, value]) => [name, value])
}

/** Replaces the side's own addresses. */
export function neutral(side: Side, text: string): string {
  return text
    .replaceAll(side.at, 'AT')
    .replaceAll(side.other, 'OTHER')
    .replaceAll(encodeURIComponent(side.other), 'OTHER')
}

/**
 * What a caller can see of a failure. Omits messages of Node's parser and sockets, because they
 * contain addresses.
 */
export async function failure(run: () => unknown): Promise<unknown> {
  try {
    await run()
  } catch (error) {
    return describe(error)
  }
  return 'no failure'
}

export function describe(error: unknown, depth = 1): unknown {
  if (!(error instanceof Error)) return { thrown: error }
  const { name, code, cause } = error as Error & { code?: unknown }
  const type = Object.getPrototypeOf(error) === DOMException.prototype ? 'DOMException' : undefined
  const telling = /^(?:terminated|fetch failed|Body|Request|Response|This operation|The operation|invalid|unexpected)/i
  const message = telling.test(error.message) ? error.message.replace(/http:.*/, '') : undefined
  return {
    name,
    type,
    code,
    message,
    ...(cause instanceof Error && depth > 0 && { cause: describe(cause, depth - 1) }),
  }
}
