import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { toJsonSchema } from '@valibot/to-json-schema'
import { type as ark } from 'arktype'
import * as Type from 'typebox'
import * as v from 'valibot'
import * as z from 'zod'
import { error, fn, service, stream, type, type Contract, type Schema } from '../../src/contract/index.ts'
import { describeContract } from '../../src/contract/openapi/document.ts'
import type { ValibotConverter } from '../../src/contract/openapi/json-schema.ts'

interface Answer {
  readonly description?: string
  readonly $ref?: string
  readonly content?: Record<string, { schema: Record<string, unknown> }>
}
interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly operationId: string
  readonly parameters: {
    name?: string
    in?: string
    required?: boolean
    schema?: object
    content?: object
    $ref?: string
  }[]
  readonly security?: object[]
  readonly requestBody?: { required: boolean; content: Record<string, { schema: Record<string, unknown> }> }
  readonly responses: Record<string, Answer>
}
interface Document {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: Record<string, Record<string, Record<string, unknown>>>
  readonly 'x-busbar-notes'?: string[]
}

const valibot = toJsonSchema as ValibotConverter

async function documentOf(contract: Contract, options: Parameters<typeof describeContract>[1] = {}): Promise<Document> {
  const document = describeContract(contract, options)
  const { valid, errors } = await new Validator().validate(
    JSON.parse(JSON.stringify(document)) as Record<string, unknown>,
  )
  assert.ok(valid, JSON.stringify(errors))
  return document as unknown as Document
}

const Product = z.object({ id: z.int(), name: z.string() }).meta({ id: 'Product' })

const catalog = service(
  'catalog',
  {
    featured: fn({
      output: z.array(Product),
      idempotent: true,
      docs: 'What is on the first page.\n\nChanges every hour.',
    }),
    product: fn({
      input: z.object({ id: z.int(), since: z.date().optional(), tags: z.array(z.string()).optional() }),
      output: Product.optional(),
      errors: { NOT_FOUND: z.object({ id: z.int() }), SOLD_OUT: error(410) },
      http: 'GET /products/{id}',
    }),
    rename: fn({ input: z.object({ sku: z.int(), name: z.string() }), http: 'PUT /products/{sku}' }),
    prices: stream({ input: z.object({ id: z.int() }), output: z.number() }),
    ping: fn(),
  },
  { docs: 'What there is to buy.' },
)

describe('the document of a contract', () => {
  it('has each method at its path and verb', async () => {
    const { paths } = await documentOf(catalog)
    assert.deepEqual(
      Object.entries(paths).map(([path, item]) => [path, Object.keys(item)]),
      [
        ['/catalog/featured', ['post']],
        ['/products/{id}', ['get', 'put']],
        ['/catalog/prices', ['post']],
        ['/catalog/ping', ['post']],
      ],
    )
  })

  it('uses the name of the service in its app', async () => {
    const { paths } = await documentOf(catalog, { name: 'shop' })
    assert.equal(paths['/shop/ping']!['post']!.operationId, 'shop.ping')
  })

  it('contains the docs of the contract', async () => {
    const { summary, description } = (await documentOf(catalog)).paths['/catalog/featured']!['post']!
    assert.equal(summary, 'What is on the first page.')
    assert.match(description!, /Changes every hour[^]*may be retried/)
  })

  it('puts fields into the path and the query, as JSON if they are not text', async () => {
    const { parameters } = (await documentOf(catalog)).paths['/products/{id}']!['get']!
    const said = parameters.filter(({ name }) => name !== undefined)
    assert.deepEqual(
      said.map(({ name, in: place, required, content }) => [name, place, required, content !== undefined]),
      [
        ['id', 'path', true, false],
        ['since', 'query', false, true],
        ['tags', 'query', false, false],
      ],
    )
  })

  it('puts the other fields into the body, and names the parameters of equal paths alike', async () => {
    const { parameters, requestBody } = (await documentOf(catalog)).paths['/products/{id}']!['put']!
    assert.equal(parameters[0]!.name, 'id')
    assert.deepEqual(requestBody?.content['application/json']?.schema['required'], ['name'])
  })

  it('describes results, and their absence', async () => {
    const { paths, components } = await documentOf(catalog)
    const { responses } = paths['/products/{id}']!['get']!
    assert.deepEqual(responses['200']?.content?.['application/json']?.schema, {
      $ref: '#/components/schemas/Product',
    })
    assert.ok(responses['204'])
    assert.deepEqual(components['schemas']!['Product']!['required'], ['id', 'name'])
    assert.deepEqual(Object.keys(paths['/catalog/ping']!['post']!.responses).slice(0, 1), ['204'])
  })

  it('has a status other than the default', async () => {
    const made = service('made', { one: fn({ output: z.int(), status: 201 }), none: fn({ status: 202 }) })
    const { paths } = await documentOf(made)
    assert.deepEqual(Object.keys(paths['/made/one']!['post']!.responses)[0], '201')
    assert.deepEqual(Object.keys(paths['/made/none']!['post']!.responses)[0], '202')
  })

  it('has declared errors with their status and data, and the errors of every method', async () => {
    const { responses } = (await documentOf(catalog)).paths['/products/{id}']!['get']!
    const missing = JSON.stringify(responses['404'])
    assert.match(missing, /"const":"NOT_FOUND"/)
    assert.match(missing, /METHOD_UNKNOWN/)
    assert.match(JSON.stringify(responses['410']), /"const":"SOLD_OUT"/)
    for (const status of ['401', '403', '422', '500', '503', '504']) assert.ok(responses[status]?.$ref, status)
  })

  it('has the metadata of the contract as headers, and authorization as a security scheme', async () => {
    const metadata = z.object({ authorization: z.string(), 'x-tenant': z.string().optional() })
    const { paths, components } = await documentOf(service('tenants', { list: fn() }, { metadata }))
    const { parameters, security } = paths['/tenants/list']!['post']!
    assert.deepEqual(security, [{ 'busbar.Bearer': [] }])
    assert.deepEqual(components['securitySchemes'], { 'busbar.Bearer': { type: 'http', scheme: 'bearer' } })
    assert.ok(parameters.some(({ $ref }) => $ref === '#/components/parameters/tenants.x-tenant'))
    const { name, in: place, required } = components['parameters']!['tenants.x-tenant']!
    assert.deepEqual([name, place, required], ['x-tenant', 'header', false])
  })

  it('has no error of inputs for a method without input', async () => {
    const { responses, requestBody } = (await documentOf(catalog)).paths['/catalog/ping']!['post']!
    assert.equal(requestBody, undefined)
    assert.equal(responses['422'], undefined)
  })

  it('has no error of bodies if the input is in the path and the query', async () => {
    const { paths } = await documentOf(catalog)
    assert.equal(paths['/products/{id}']!['get']!.responses['415'], undefined)
    assert.ok(paths['/products/{id}']!['put']!.responses['415'])
  })

  it('describes streams in both formats', async () => {
    const { responses } = (await documentOf(catalog)).paths['/catalog/prices']!['post']!
    assert.deepEqual(Object.keys(responses['200']!.content!), ['application/x-ndjson', 'text/event-stream'])
    assert.deepEqual(responses['200']!.content!['text/event-stream']!.schema, { type: 'number' })
  })

  it('names a schema twice if it differs between input and output', async () => {
    const both = service('both', { put: fn({ input: Product, output: Product }) })
    const { components } = await documentOf(both)
    assert.deepEqual(
      Object.keys(components['schemas']!).filter((name) => !name.startsWith('busbar.')),
      ['Product', 'ProductOutput'],
    )
  })

  it('supports a recursive schema', async () => {
    const Folder = z.object({
      name: z.string(),
      get folders() {
        return z.array(Folder)
      },
    })
    const files = service('files', { root: fn({ output: Folder }), list: fn({ output: z.array(Folder) }) })
    const text = JSON.stringify(await documentOf(files))
    assert.doesNotMatch(text, /"#"|\$defs/)
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      assert.ok(text.includes(`"${name}":{`), name)
  })

  it('notes what it cannot describe, and allows any value there', async () => {
    const open = service('open', { any: fn({ input: type<number>(), output: v.string() }) })
    const { paths, 'x-busbar-notes': notes } = await documentOf(open)
    assert.deepEqual(paths['/open/any']!['post']!.requestBody?.content['application/json']?.schema, {})
    assert.match(
      notes!.join('\n'),
      /open\.any\.input has a type without a schema[^]*@valibot\/to-json-schema to be converted/,
    )
  })

  it('has no methods for a class, and notes that', async () => {
    const { paths, 'x-busbar-notes': notes } = await documentOf(service.from('calc', () => ({ add: () => 1 })))
    assert.deepEqual(paths, {})
    assert.match(notes![0]!, /a class without a contract/)
  })
})

/** As in docs/reference/contract.md. */
function typebox(schema: Type.TSchema): Schema {
  const validate = (value: unknown): { value: unknown } => ({ value })
  const jsonSchema = { input: () => schema, output: () => schema }
  return { '~standard': { version: 1, vendor: 'typebox', validate, jsonSchema } } as Schema
}

describe('schemas in a document', () => {
  const libraries: Record<string, Schema> = {
    zod: z.object({ id: z.int(), name: z.string().optional() }),
    valibot: v.object({ id: v.pipe(v.number(), v.integer()), name: v.optional(v.string()) }),
    arktype: ark({ id: 'number.integer', 'name?': 'string' }),
    typebox: typebox(Type.Object({ id: Type.Integer(), name: Type.Optional(Type.String()) })),
  }
  for (const [name, schema] of Object.entries(libraries))
    it(`are the same for every library: ${name}`, async () => {
      const { paths } = await documentOf(service('items', { put: fn({ input: schema }) }), { valibot })
      const { properties, required } = paths['/items/put']!['post']!.requestBody!.content['application/json']!
        .schema as {
        properties: Record<string, { type: string }>
        required: string[]
      }
      assert.deepEqual([properties['id']!.type, properties['name']!.type, required], ['integer', 'string', ['id']])
    })

  const exotic: Record<string, Schema> = {
    zod: z.object({
      date: z.date(),
      big: z.bigint(),
      bytes: z.instanceof(Uint8Array),
      map: z.map(z.string(), z.date()),
      set: z.set(z.int()),
    }),
    valibot: v.object({
      date: v.date(),
      big: v.bigint(),
      bytes: v.instance(Uint8Array),
      map: v.map(v.string(), v.date()),
      set: v.set(v.number()),
    }),
    arktype: ark({ date: 'Date', big: 'bigint', bytes: ark.instanceOf(Uint8Array), map: 'Map', set: 'Set' }),
  }
  for (const [name, schema] of Object.entries(exotic))
    it(`describe the tags of what JSON cannot express: ${name}`, async () => {
      const { paths } = await documentOf(service('items', { put: fn({ input: schema }) }), { valibot })
      const text = JSON.stringify(paths['/items/put']!['post']!.requestBody)
      for (const tag of ['$date', '$bigint', '$bytes', '$map', '$set'])
        assert.ok(text.includes(`"required":["${tag}"]`), tag)
    })

  it('have no types of TypeBox that JSON Schema does not know', async () => {
    const schema = typebox(Type.Object({ big: Type.BigInt(), type: Type.Union([Type.String(), Type.Undefined()]) }))
    const { paths } = await documentOf(service('items', { put: fn({ input: schema }) }))
    const text = JSON.stringify(paths['/items/put']!['post']!.requestBody)
    assert.match(text, /"required":\["\$bigint"\][^]*"required":\["\$undefined"\]/)
    assert.doesNotMatch(text, /"type":"(?:bigint|undefined)"/)
  })
})
