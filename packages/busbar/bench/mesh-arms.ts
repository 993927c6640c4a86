/**
 * A mesh of four programs and a typed service in one thread, and the calls to them that benchmarks
 * time.
 */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import fastify from 'fastify'
import { client } from '../src/contract/client-entry.ts'
import { startHost } from '../src/contract/host/typed-host.ts'
import { fn, service, type } from '../src/contract/index.ts'
import { startMesh } from '../src/mesh/mesh.ts'
import type { MeshContext } from '../src/mesh/mesh-context.ts'
import type { LocalEndpoint } from '../src/mesh/routing/endpoint.ts'
import { Router } from '../src/mesh/routing/router.ts'
import { CallContexts } from '../src/mesh/typed/call-contexts.ts'
import { offerTypedCalls } from '../src/mesh/typed/mesh-transport.ts'
import type { ServiceTemplates } from '../src/shared/path-templates/known-templates.ts'
import { exchanges, streams } from '../test/support/mesh/accelerators.ts'
import { TestEndpoint } from '../test/support/mesh/test-endpoint.ts'

type Observers = Partial<Pick<MeshContext, 'meter' | 'tracer'>>

export interface Arm {
  /** How many one round makes. */
  readonly calls: number
  readonly call: () => Promise<unknown>
  /** Calls of the mesh in each of them. */
  readonly each: number
}

const programs = ['a', 'b', 'c', 'd']
const fastifies = ['e', 'f', 'g', 'h']
export const names = [...programs, ...fastifies, 'typed']

/** The routes of each Fastify program, by which calls are counted. */
export const templates: readonly ServiceTemplates[] = fastifies.map((service) => ({
  service,
  templates: [
    'GET /health',
    'GET /items',
    'POST /items',
    'GET /items/:id',
    'GET /items/:id/parts/:part',
    'GET /users/:id',
  ],
}))

/** `use`: from now on, calls are observed by these. */
export async function startArms(
  observers: Observers = {},
): Promise<{ arms: Readonly<Record<string, Arm>>; use: (observers: Observers) => Promise<void> }> {
  const router = new Router(names)
  for (const name of programs)
    router.add(
      new TestEndpoint(
        name,
        createServer((_, response) => response.end('{"id":1}')),
      ),
    )
  for (const name of fastifies) router.add(new TestEndpoint(name, await fastifyProgram(name)))
  const contract = service('typed', { get: fn({ input: type<number>(), output: type<number>() }) })
  const { enter } = new CallContexts('typed')
  const typed = await startHost(contract.implement({ get: async (input) => input }), {
    name: 'typed',
    log: console,
    clone: false,
    maxInFlight: 10_000,
    client,
    enter,
  })
  router.add(Object.assign(new TestEndpoint('typed', createServer()), { typed }) as LocalEndpoint)
  /**
   * Its observers are looked up for each request, and those of typed calls once for each method.
   */
  let mesh: { -readonly [Key in keyof Observers]: Observers[Key] | undefined } = {}
  await startMesh({
    router,
    maxHops: 16,
    ...observers,
    streams,
    exchanges: {
      open: (...call) => exchanges!.open(...call),
      capture: (context) => exchanges!.capture((mesh = context)),
    },
  })
  let bound: { get(input: number): Promise<number> }
  return {
    arms: {
      'a fan-out to four programs by fetch': { calls: 1000, call: () => fanOut(programs, ''), each: 4 },
      'a fan-out to four Fastify programs by fetch': { calls: 1000, call: fanOutToItems, each: 4 },
      'a typed call': { calls: 30_000, call: () => bound.get(1), each: 1 },
    },
    async use({ meter, tracer }) {
      Object.assign(mesh, { meter, tracer })
      offerTypedCalls({ router, maxHops: 16, validate: 'edge', meter, tracer })
      bound = client(contract) as typeof bound
      await bound.get(0)
    },
  }
}

async function fastifyProgram(name: string): Promise<Server> {
  const app = fastify()
  for (const { service, templates: all } of templates)
    for (const [method, url] of service === name ? all.map((one) => one.split(' ')) : [])
      app.route({ method: method!, url: url!, handler: async () => ({ id: 1 }) })
  await app.ready()
  return app.server
}

let calls = 0

async function fanOutToItems(): Promise<void> {
  await fanOut(fastifies, `items/${calls++ % 1000}`)
}

async function fanOut(names: readonly string[], path: string): Promise<void> {
  const answers = await Promise.all(
    names.map(async (name) => await (await fetch(`http://${name}.internal/${path}`)).json()),
  )
  assert.equal(answers.length, names.length)
}

/** Microseconds of the thread's processor time per call. */
export async function timeOf({ calls, call }: Arm): Promise<number> {
  const before = processorTime()
  for (let n = 0; n < calls; n++) await call()
  return (processorTime() - before) / calls
}

/**
 * Microseconds. Linux adds the time of a running thread at each tick (1 to 10 ms) and when the
 * thread waits, and `getrusage` reads what was added: 1 ms of work showed as 0 to 4 ms. So it waits
 * first (shorter waits do not let go of the processor).
 */
function processorTime(): number {
  Atomics.wait(nobody, 0, 0, 0.2)
  const { user, system } = process.threadCpuUsage()
  return user + system
}

const nobody = new Int32Array(new SharedArrayBuffer(4))

export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(share * (values.length - 1))]!
}

/** The median and the middle half. */
export function quartiles(values: readonly number[]): string {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(values, share).toFixed(3))
  return `${middle} x (${low} to ${high})`
}
