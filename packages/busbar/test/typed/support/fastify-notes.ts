import { createRequire } from 'node:module'
import fastify5, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { FastifyInstance as Fastify4 } from 'fastify4'
import * as z from 'zod'
import { error, fn, service, stream, type, type Log } from '../../../src/contract/index.ts'
import { fastifyPlugin } from '../../../src/gateway/typed/adapters/index.ts'

/** Accepted by the types of both versions. */
void ((app: Fastify4, plugin: ReturnType<typeof fastifyPlugin>) => app.register(plugin, { prefix: '/api' }))

/** The common part of both versions that is used here. */
const fastify4 = createRequire(import.meta.url)('fastify4') as typeof fastify5

export const notes = service('notes', {
  add: fn({
    input: z.object({ text: z.string(), at: z.date().optional() }),
    output: z.object({ text: z.string(), at: z.date().optional() }),
    errors: { TAKEN: error(409, z.object({ text: z.string() })) },
    status: 201,
  }),
  note: fn({
    input: z.object({ id: z.string(), q: z.int().optional() }),
    output: type<unknown>(),
    http: 'GET /notes/{id}',
  }),
  top: fn({ output: z.string(), http: 'GET /notes/top' }),
  drop: fn({ input: z.object({ id: z.string() }), http: 'DELETE /notes/{id}' }),
  sum: fn({ input: z.array(z.number()), output: z.number(), http: 'POST /sum' }),
  echo: fn({ input: type<unknown>(), output: type<unknown>() }),
  hang: fn({ input: type<string>(), output: type<unknown>() }),
  breaks: fn({ output: type<unknown>() }),
  wrong: fn({ output: z.object({ n: z.number() }) }),
  tagged: fn({ output: type<string>() }),
  words: stream({ input: z.object({ text: z.string() }), output: z.string(), http: 'GET /words/{text}' }),
  late: stream({ output: z.int() }),
  refused: stream({ output: z.int(), errors: { DRY: error(410) } }),
  endless: stream({ output: z.int() }),
})

export const log: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** An implementation that shows what happens in its methods. */
class Calls {
  made: string[] = []
  readonly left = Promise.withResolvers<string>()
  readonly began = Promise.withResolvers<void>()

  readonly implementation = notes.implement({
    add: ({ text, at }, { fail }) => {
      this.made.push('add')
      return text === 'taken' ? fail('TAKEN', { text }) : { text, at }
    },
    note: (input) => input,
    top: () => 'top',
    drop: () => void this.made.push('drop'),
    sum: (numbers) => numbers.reduce((sum, number) => sum + number, 0),
    echo: (input) => input,
    hang: (_, { signal }) => {
      signal.addEventListener('abort', () => this.left.resolve((signal.reason as { code: string }).code))
      this.began.resolve()
      return new Promise(() => {})
    },
    breaks: () => {
      throw new Error('secret')
    },
    wrong: () => ({ n: 'secret' }) as never,
    tagged: (_, { setHeader }) => {
      setHeader('x-cache', 'hit')
      return 'tagged'
    },
    async *words({ text }) {
      yield* text.split(' ')
    },
    async *late() {
      yield 1
      throw new Error('secret')
    },
    async *refused(_, { fail }) {
      fail('DRY')
      yield 1
    },
    endless: () => forever(this),
  })
}

async function* forever({ left, began }: Calls): AsyncGenerator<number> {
  try {
    for (let at = 0; ; at++) {
      yield at
      began.resolve()
    }
  } finally {
    left.resolve('left')
  }
}

export const versions = Object.entries({ 'Fastify 5': fastify5, 'Fastify 4': fastify4 })

type Setup = [
  prepare?: (app: FastifyInstance) => void | Promise<void>,
  options?: FastifyServerOptions & { prefix?: string; maxInputSize?: number; cors?: string[] },
]

/** An app of one version of Fastify with the service. */
export class NotesApp {
  readonly #fastify: typeof fastify5
  app!: FastifyInstance
  calls!: Calls

  constructor(fastify: typeof fastify5) {
    this.#fastify = fastify
  }

  /** An app without the service. */
  create(options: FastifyServerOptions = {}): FastifyInstance {
    this.calls = new Calls()
    this.app = this.#fastify({ forceCloseConnections: true, ...options }) as FastifyInstance
    return this.app
  }

  /** An app with the service below `/api`, listening. */
  async start(...[prepare = () => {}, options = {}]: Setup): Promise<string> {
    const { prefix = '/api', maxInputSize, cors, ...rest } = options
    const app = this.create(rest)
    await prepare(app)
    const parts = { log, ...(maxInputSize !== undefined && { maxInputSize }), ...(cors !== undefined && { cors }) }
    await app.register(fastifyPlugin(this.calls.implementation, parts), { prefix })
    app.get('/own', async () => 'own')
    return await app.listen({ port: 0, host: '127.0.0.1' })
  }

  /** A test of an app, which is closed behind it. */
  during(run: (url: string) => Promise<void>, ...setup: Setup): () => Promise<void> {
    return async () => {
      const url = await this.start(...setup)
      try {
        await run(`${url}${setup[1]?.prefix ?? '/api'}`)
      } finally {
        await this.app.close()
      }
    }
  }
}

export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  })
}
