import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { mergeDocuments, type ServiceDocument } from '../../../src/gateway/openapi/merge-documents.ts'
import { toOpenApi31 } from '../../../src/gateway/openapi/to-openapi31.ts'

/** A document of one path, `/it`, with a response of `schema`. */
function part(
  service: string,
  more: object = {},
  schema: object = { $ref: '#/components/schemas/It' },
): ServiceDocument {
  const responses = { 200: { description: 'it', content: { 'application/json': { schema } } } }
  const document = toOpenApi31({
    openapi: '3.1.0',
    info: { title: service, version: '1' },
    paths: { '/it': { get: { operationId: 'it', responses } } },
    ...more,
  })
  return { service, prefix: `/${service}`, document: document!, isReachable: () => true }
}

const it31 = (type: string): object => ({ components: { schemas: { It: { type } } } })

type Merged = Record<string, any>

async function merged(...parts: ServiceDocument[]): Promise<Merged> {
  const document = mergeDocuments(parts, [], { title: 'app', version: '1' })
  const { valid, errors } = await new Validator().validate(structuredClone(document) as unknown as Merged)
  assert.ok(valid, JSON.stringify(errors))
  return document
}

describe('the merged documents of several services', () => {
  it('share equal components, whatever the order of their keys', async () => {
    const one = { components: { schemas: { It: { type: 'object', properties: { a: {} } } } } }
    const other = { components: { schemas: { It: { properties: { a: {} }, type: 'object' } } } }
    const { components, 'x-busbar-notes': notes } = await merged(part('a', one), part('b', other))
    assert.deepEqual([Object.keys(components.schemas), notes], [['It'], undefined])
  })

  it('rename different components, with a note', async () => {
    const {
      components,
      paths,
      'x-busbar-notes': notes,
    } = await merged(part('a', it31('string')), part('b', it31('number')))
    assert.deepEqual(components.schemas, { It: { type: 'string' }, 'b.It': { type: 'number' } })
    assert.match(JSON.stringify(paths['/b/it']), /schemas\/b\.It"/)
    assert.match(notes[0], /schemas\/It of b is schemas\/b\.It here/)
  })

  it('have a service’s name only once in a path if the route has it', async () => {
    const post = (name: string, short?: string) => ({
      post: {
        operationId: name,
        responses: { 200: { description: 'it' } },
        ...(short && { 'x-busbar-short-path': short }),
      },
    })
    const paths = {
      '/a/one': post('one', '/one'),
      '/a/two': post('two', '/two'),
      '/two': post('mapped'),
      '/a/own': post('own'),
    }
    const own = part('a', { paths })
    const { paths: found } = await merged({ ...own, prefix: '/api/a' })
    assert.deepEqual(
      Object.entries<Merged>(found).map(([path, { post }]) => [path, post.operationId]),
      [
        ['/api/a/one', 'one'],
        ['/api/a/a/two', 'two'],
        ['/api/a/two', 'mapped'],
        ['/api/a/a/own', 'own'],
      ],
    )
    assert.doesNotMatch(JSON.stringify(found), /x-busbar/)
    assert.deepEqual(Object.keys((await merged({ ...own, prefix: '' }))['paths']), Object.keys(paths))
  })

  it('rename components that refer to different ones', async () => {
    const holding = (type: string): object => ({
      components: { schemas: { It: { $ref: '#/components/schemas/Inner' }, Inner: { type } } },
    })
    const { components } = await merged(part('a', holding('string')), part('b', holding('number')))
    assert.deepEqual(components.schemas['b.It'], { $ref: '#/components/schemas/b.Inner' })
  })

  it('find another name if the new one is taken too', async () => {
    const own = { components: { schemas: { It: { type: 'number' }, 'b.It': { type: 'null' } } } }
    const { components } = await merged(part('a', it31('string')), part('b', own))
    assert.deepEqual(components.schemas['b.It-2'], { type: 'number' })
  })

  it('rename security schemes in requirements, which refer by name only', async () => {
    const keyed = (name: string): object => ({
      components: {
        ...(it31('string') as Merged)['components'],
        securitySchemes: { key: { type: 'apiKey', in: 'header', name } },
      },
      security: [{ key: [] }],
    })
    const { paths } = await merged(part('a', keyed('x-a')), part('b', keyed('x-b')))
    assert.deepEqual(paths['/a/it'].get.security, [{ key: [] }])
    assert.deepEqual(paths['/b/it'].get.security, [{ 'b.key': [] }])
  })

  it('rename the targets of a discriminator, by reference or by name', async () => {
    const choice = (mapping: object): object => ({
      oneOf: [{ $ref: '#/components/schemas/It' }],
      discriminator: { propertyName: 'is', mapping },
    })
    const { paths } = await merged(
      part('a', it31('string')),
      part(
        'b',
        it31('number'),
        choice({ one: 'It', two: '#/components/schemas/It', three: 'https://other.example/It.json' }),
      ),
    )
    const { mapping } = paths['/b/it'].get.responses[200].content['application/json'].schema.discriminator
    assert.deepEqual(Object.values(mapping), [
      '#/components/schemas/b.It',
      '#/components/schemas/b.It',
      'https://other.example/It.json',
    ])
  })

  it('do not change examples that look like references', async () => {
    const schemas = { It: { type: 'number', examples: [{ $ref: '#/components/schemas/It' }] } }
    const { components } = await merged(part('a', it31('string')), part('b', { components: { schemas } }))
    assert.deepEqual(components.schemas['b.It'].examples, [{ $ref: '#/components/schemas/It' }])
  })

  it('have unique operation ids', async () => {
    const { paths } = await merged(
      part('a', it31('string')),
      part('b', it31('string')),
      part('b', { ...it31('string'), servers: [{ url: '/v2' }] }),
    )
    const ids = Object.values(paths as Merged).map((item: Merged) => item['get'].operationId)
    assert.deepEqual(ids, ['it', 'b.it', 'b.it-2'])
  })

  it('report a path that two services have, and keep the first one’s', async () => {
    const { paths, 'x-busbar-notes': notes } = await merged(part('a', it31('string')), {
      ...part('b', it31('string')),
      prefix: '/a',
    })
    assert.deepEqual(Object.keys(paths), ['/a/it'])
    assert.match(notes[0], /\/a\/it of b is left out: a has \/a\/it already/)
  })
})

describe('a program’s document', () => {
  const refused: Record<string, unknown> = {
    'of Swagger 2': { swagger: '2.0', paths: {} },
    'that is a list': [],
    'that is nothing': null,
    'whose paths are a list': { openapi: '3.1.0', paths: [] },
    'with a path that is nothing': { openapi: '3.1.0', paths: { '/': null } },
    'with components that are text': { openapi: '3.1.0', components: { schemas: 'all' } },
    'with tags that are an object': { openapi: '3.1.0', tags: {} },
  }
  for (const [what, document] of Object.entries(refused))
    it(`${what} is not an OpenAPI document`, () => assert.equal(toOpenApi31(document), undefined))

  it('keeps its paths, and drops keys that are not paths', () => {
    const paths = JSON.parse('{"/a":{},"x-a":{},"__proto__":{}}') as object
    assert.deepEqual(Object.keys(toOpenApi31({ openapi: '3.1.0', paths })!.paths), ['/a'])
  })

  it('of 3.0 is converted to 3.1', () => {
    const schemas = {
      Text: { type: 'string', nullable: true },
      Choice: { type: 'string', enum: ['a'], nullable: true },
      Other: { $ref: '#/components/schemas/Text', nullable: true },
      Never: { type: 'string', nullable: false },
      Above: { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      Fields: { type: 'object', properties: { nullable: { type: 'boolean' } }, example: { nullable: true } },
    }
    assert.deepEqual(toOpenApi31({ openapi: '3.0.3', components: { schemas } })!.components!['schemas'], {
      Text: { type: ['string', 'null'] },
      Choice: { type: ['string', 'null'], enum: ['a', null] },
      Other: { anyOf: [{ $ref: '#/components/schemas/Text' }, { type: 'null' }] },
      Never: { type: 'string' },
      Above: { type: 'number', exclusiveMinimum: 1, maximum: 9 },
      Fields: { type: 'object', properties: { nullable: { type: 'boolean' } }, example: { nullable: true } },
    })
  })
})
