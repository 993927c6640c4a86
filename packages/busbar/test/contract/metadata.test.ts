import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as z from 'zod'
import { client, safe } from '../../src/contract/client-entry.ts'
import { fetchHandler } from '../../src/contract/fetch-entry.ts'
import { fn, service, stream, type Interceptor } from '../../src/contract/index.ts'

const metadata = z.object({ 'x-tenant': z.string().min(1), 'x-limit': z.coerce.number().int().default(10) })

const tenants = service(
  'tenants',
  { page: fn({ output: z.string() }), pages: stream({ output: z.string() }), line: fn({ output: z.int() }) },
  { metadata },
)

/** The inner interceptor: sees the validated metadata, and replaces a field of the context. */
const louder: Interceptor<{ log: { line: number } }> = async ({ context }, next) =>
  await next({ log: { line: Number(context.metadata['x-limit']) } })

const implementation = tenants.use(louder).implement({
  page: (_, { metadata: { 'x-tenant': tenant, 'x-limit': limit } }) => {
    const typed: [string, number] = [tenant, limit]
    return typed.join(' ')
  },
  async *pages(_, { metadata: { 'x-tenant': tenant } }) {
    yield tenant
  },
  line: (_, { log }) => log.line,
})

describe('metadata with a schema in the contract', () => {
  const handler = fetchHandler(implementation)
  const fetch: typeof globalThis.fetch = (input, init) => handler(new Request(input, init))
  const ways = {
    'in one thread': (said: Record<string, string>) => client(tenants, implementation, { metadata: said }),
    'over HTTP': (said: Record<string, string>) => client(tenants, 'http://any.example', { metadata: said, fetch }),
  }
  for (const [way, connect] of Object.entries(ways)) {
    it(`is converted by the schema: ${way}`, async () => {
      await using calls = connect({ 'X-Tenant': 'ada', 'x-limit': '5' })
      assert.equal(await calls.page(), 'ada 5')
      const pages: string[] = []
      for await (const page of calls.pages()) pages.push(page)
      assert.deepEqual(pages, ['ada'])
    })

    it(`gets the defaults of the schema: ${way}`, async () => {
      await using calls = connect({ 'x-tenant': 'ada' })
      assert.equal(await calls.page(), 'ada 10')
    })

    it(`is refused with the path of each issue: ${way}`, async () => {
      await using calls = connect({ 'x-limit': 'many' })
      const [error] = await safe(calls.page())
      assert.equal(error?.code, 'INPUT_INVALID')
      if (error?.code !== 'INPUT_INVALID') return
      assert.deepEqual(
        new Set(error.data.issues.map(({ path }) => path.join('.'))),
        new Set(['metadata.x-limit', 'metadata.x-tenant']),
      )
    })

    it(`can be replaced by interceptors: ${way}`, async () => {
      await using calls = connect({ 'x-tenant': 'ada', 'x-limit': '7' })
      assert.equal(await calls.line(), 7)
    })
  }

  it('needs a schema', () => {
    assert.throws(() => service('tenants', {}, { metadata: {} as never }), { code: 'CONTRACT_INVALID' })
  })
})
