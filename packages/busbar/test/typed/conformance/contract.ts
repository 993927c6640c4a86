import * as z from 'zod'
import { BusbarError } from '../../../src/contract/errors.ts'
import { error, fn, service, stream, type, type Implementation } from '../../../src/contract/index.ts'

/** The service that tests call over every backend. Each method shows one behaviour. */
export const probe = service('probe', {
  echo: fn({ input: type<unknown>(), output: type<unknown>() }),
  add: fn({ input: z.object({ a: z.number(), b: z.number().default(1) }), output: z.number() }),
  find: fn({
    input: z.object({ id: z.int() }),
    output: z.object({ id: z.int(), name: z.string() }),
    errors: { NOT_FOUND: z.object({ id: z.int() }), TAKEN: error(409) },
  }),
  mapped: fn({
    input: z.object({ id: z.int(), q: z.string().optional(), tags: z.array(z.string()).optional() }),
    output: type<unknown>(),
    http: 'GET /things/{id}',
  }),
  put: fn({
    input: z.object({ id: z.string(), when: z.date() }),
    output: type<unknown>(),
    http: 'PUT /things/{id}',
  }),
  silent: fn({ input: type<unknown>() }),
  wrong: fn({ output: z.object({ n: z.number() }) }),
  strip: fn({ output: z.object({ open: z.string() }) }),
  throws: fn({ input: type<'error' | 'text' | 'undefined' | 'sync' | 'null-prototype'>(), output: type<unknown>() }),
  refuses: fn({ input: type<'UNAUTHENTICATED' | 'FORBIDDEN' | 'RESOURCE_EXHAUSTED'>(), output: type<unknown>() }),
  unsupported: fn({ output: type<unknown>() }),
  hang: fn({ input: type<string>(), output: type<unknown>() }),
  ended: fn({ input: type<string>(), output: type<string>() }),
  limited: fn({ output: type<unknown>(), timeout: 20 }),
  context: fn({ output: type<Record<string, unknown>>() }),
  mutate: fn({ input: type<{ list: number[] }>(), output: type<number[]>() }),
  shared: fn({ output: type<{ hits: number[] }>() }),
  count: stream({ input: z.object({ to: z.number() }), output: z.number() }),
  failing: stream({
    input: type<'before' | 'declared' | 'bug' | 'output'>(),
    output: z.number(),
    errors: { DRY: z.object({ after: z.number() }) },
  }),
  endless: stream({ input: type<string>(), output: type<{ at: number; pad: string }>() }),
  hanging: stream({ input: type<string>(), output: type<number>() }),
  values: stream({ input: type<unknown[]>(), output: type<unknown>() }),
})

/** Records what the service did. The service runs in the process of the test on every backend. */
export class CallRecord {
  readonly #notes = new Set<string>()
  readonly #waiting = new Map<string, () => void>()
  made = 0

  note(what: string): void {
    this.#notes.add(what)
    this.#waiting.get(what)?.()
  }

  has(what: string): boolean {
    return this.#notes.has(what)
  }

  /** Resolves when `what` has been recorded. */
  async until(what: string): Promise<void> {
    if (this.#notes.has(what)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.set(what, resolve)
    await promise
  }
}

class Product {
  name = 'lamp'
}

export function implementProbe(record: CallRecord): Implementation<(typeof probe)['methods']> {
  const cache = { hits: [1] }
  return probe.implement({
    echo: (input) => input,
    add: async ({ a, b }) => a + b,
    find: ({ id }, { fail }) => {
      if (id === 0) fail('TAKEN')
      return id === 1 ? { id, name: 'lamp' } : fail('NOT_FOUND', { id })
    },
    mapped: (input) => input,
    put: (input) => input,
    silent: (input) => {
      record.note('silent')
      return input as undefined
    },
    wrong: () => ({ n: 'secret' }) as never,
    strip: () => ({ open: 'yes', secret: 'no' }) as never,
    throws: (kind) => throwing(kind),
    refuses: (code) => {
      throw new BusbarError(code, { message: 'no' })
    },
    unsupported: () => new Product(),
    hang: (name, { signal }) => {
      record.note(`${name} began`)
      signal.addEventListener('abort', () =>
        record.note(`${name} aborted: ${(signal.reason as { code: string }).code}`),
      )
      return new Promise(() => {})
    },
    ended: async (name, { signal }) => {
      record.note(`${name} began`)
      return await new Promise((resolve) => signal.addEventListener('abort', () => resolve('late')))
    },
    limited: () => new Promise(() => {}),
    context: (_, { service, method, metadata, timeLeft, caller, signal }) => ({
      service,
      method,
      word: metadata['x-word'],
      limited: timeLeft < Infinity,
      caller,
      aborted: signal.aborted,
    }),
    mutate: (input) => {
      input.list.push(4)
      return input.list
    },
    shared: () => cache,
    async *count({ to }) {
      try {
        for (let at = 1; at <= to; at++) {
          record.made = at
          yield at
        }
      } finally {
        record.note('count left')
      }
    },
    async *failing(kind, { fail }) {
      if (kind === 'before') throw new Error('secret')
      yield 1
      if (kind === 'declared') fail('DRY', { after: 1 })
      if (kind === 'output') yield 'secret' as never
      throw new Error('secret')
    },
    async *endless(name) {
      try {
        for (let at = 0; ; at++) {
          record.made = at
          yield { at, pad: 'x'.repeat(10_000) }
        }
      } finally {
        record.note(`${name} left`)
      }
    },
    async *hanging(name, { signal }) {
      signal.addEventListener('abort', () => {
        record.note(`${name} aborted`)
        record.note(`${name} aborted: ${(signal.reason as { code: string }).code}`)
      })
      yield 1
      await new Promise(() => {})
    },
    async *values(values) {
      yield* values
    },
    [Symbol.asyncDispose]: async () => record.note('disposed'),
  })
}

function throwing(kind: string): never {
  if (kind === 'text') throw 'secret' // oxlint-disable-line no-throw-literal
  if (kind === 'undefined') throw undefined // oxlint-disable-line no-throw-literal
  if (kind === 'null-prototype') throw Object.create(null) // oxlint-disable-line no-throw-literal
  throw new Error('secret')
}
