import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as z from 'zod'
import { client, safe } from '../../src/contract/client-entry.ts'
import { fn, service, stream, type } from '../../src/contract/index.ts'

const Product = z.object({ id: z.int(), name: z.string() })

const catalog = service('catalog', {
  featured: fn({ output: z.array(Product), idempotent: true }),
  product: fn({
    input: z.object({ id: z.int() }),
    output: Product,
    errors: { NOT_FOUND: z.object({ id: z.int() }) },
    http: 'GET /products/{id}',
  }),
  count: stream({ input: z.object({ to: z.int() }), output: z.int() }),
  hang: fn({ input: type<{ seen?: (signal: AbortSignal) => void } | undefined>() }),
})

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const shelf = [{ id: 1, name: 'lamp' }]

const implementation = catalog.implement(async ({ log }) => {
  log.debug('made')
  return {
    featured: () => shelf,
    product: ({ id }, { fail }) => shelf.find((one) => one.id === id) ?? fail('NOT_FOUND', { id }),
    async *count({ to }) {
      for (let at = 1; at <= to; at++) yield at
    },
    hang: (_input, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  }
})

describe('a client of an implementation in the same thread', () => {
  const products = client(catalog, implementation, { log: quiet })

  it('calls a method like a function', async () => {
    assert.deepEqual(await products.product({ id: 1 }), { id: 1, name: 'lamp' })
    assert.deepEqual(await products.featured(), shelf)
  })

  it('rejects with declared errors and their typed data', async () => {
    const [error, product] = await safe(products.product({ id: 7 }))
    assert.equal(product, undefined)
    assert.equal(error?.code, 'NOT_FOUND')
    if (error?.code === 'NOT_FOUND') assert.equal(error.data.id satisfies number, 7)
    assert.equal(error?.status, 404)
  })

  it('refuses an input that its schema refuses, with the path', async () => {
    const [error] = await safe(products.product({ id: 'one' as unknown as number }))
    assert.equal(error?.code, 'INPUT_INVALID')
    if (error?.code === 'INPUT_INVALID')
      assert.deepEqual(
        error.data.issues.map(({ path }) => path),
        [['id']],
      )
  })

  it('streams', async () => {
    const seen: number[] = []
    for await (const value of products.count({ to: 3 })) seen.push(value)
    assert.deepEqual(seen, [1, 2, 3])
  })

  it('ends a call whose deadline has passed, and aborts the signal of its method', async () => {
    const [error] = await safe(products.hang(undefined, { timeout: 5 }))
    assert.equal(error?.code, 'DEADLINE_EXCEEDED')
  })

  it('ends a call that its caller cancels', async () => {
    const giveUp = new AbortController()
    const call = safe(products.hang(undefined, { signal: giveUp.signal }))
    giveUp.abort()
    assert.equal((await call)[0]?.code, 'CALL_ABORTED')
  })

  it('never aborts the signal of an answered call, even if the service stops', async () => {
    const signals: AbortSignal[] = []
    const local = client(
      catalog,
      catalog.implement({
        featured: async (_, context) => {
          signals.push(context.signal)
          await Promise.resolve()
          return []
        },
        product: async (_, context) => {
          await Promise.resolve()
          // Requested long after the call has started.
          signals.push(context.signal)
          return shelf[0]!
        },
        async *count() {},
        hang: () => undefined,
      }),
      { log: quiet },
    )
    await local.featured()
    await local.product({ id: 1 })
    await local[Symbol.asyncDispose]()
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [false, false],
    )
  })

  it('is not a promise', async () => {
    assert.equal(await (products as unknown), products)
  })
})

it('a client with options from a variable has the methods of its contract, not those of a class', async () => {
  const contract = service('echo', { get: fn({ input: type<number>(), output: type<number>() }) })
  const options = { clone: false, log: console } as const
  await using echo = client(contract, contract.implement({ get: async (input) => input }), options)
  const result: number = await echo.get(1)
  assert.equal(result, 1)
})
