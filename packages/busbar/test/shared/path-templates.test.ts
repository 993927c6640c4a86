import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { maxTemplates, maxWithdrawn, readTemplate } from '../../src/shared/path-templates/known-templates.ts'
import { PathTemplates } from '../../src/shared/path-templates/path-templates.ts'

describe('a path template', () => {
  const cases: readonly (readonly [template: string, matched: readonly string[], others: readonly string[]])[] = [
    ['/items/:id', ['/items/7', '/items/7?q=/', '/items/7/', '/items/%20'], ['/items', '/items/', '/items/7/8', '/x']],
    ['GET /items', ['/items', '/items?x'], ['/items/7']],
    ['/items/{id}/parts/{part}', ['/items/1/parts/2'], ['/items/1/parts']],
    ['/items{/:id}', ['/items', '/items/7'], ['/items/7/8']],
    ['/files/*path', ['/files/a/b', '/files/a/'], ['/file', '/files']],
    ['/items/:id(^\\d+$)', ['/items/7'], ['/items/x', '/items/7x']],
    ['/:from-:to.html', ['/1-2.html', '/a-b-c.html.html'], ['/1.html', '/-2.html', '/1-.html', '/1-2.htm']],
    ['/v:version/:file.:ext', ['/v1/a.b', '/v1/a.b.c'], ['/v/a.b', '/v1/a', '/v1/.b']],
    ['/a::b', ['/a:b'], ['/a1']],
    ['/caf\u00e9/"', ['/caf%C3%A9/%22'], ['/caf\u00e9/"', '/cafe/%22']],
    ['/', ['/', '/?x'], ['/x']],
  ]
  for (const [template, matched, others] of cases)
    test(`${template} matches ${matched.join(', ')}, and not ${others.join(', ')}`, () => {
      const templates = knowing(template)
      const path = template.replace('GET ', '')
      for (const url of matched) assert.equal(templates.of('a').find('GET', url)?.path, path, url)
      for (const url of others) assert.equal(templates.of('a').find('GET', url), undefined, url)
      assert.equal(templates.of('b').find('GET', matched[0]!), undefined)
    })

  test('with fixed text comes first, with or without a method', () => {
    const templates = knowing('GET /*', '/hook/:id', 'GET /items/:id', '/items/all')
    assert.equal(templates.of('a').find('GET', '/hook/1')?.path, '/hook/:id')
    assert.equal(templates.of('a').find('HEAD', '/hook/1')?.path, '/hook/:id')
    assert.equal(templates.of('a').find('GET', '/items/all')?.path, '/items/all')
    assert.equal(templates.of('a').find('POST', '/items/7'), undefined)
  })

  test('with a method is only for this one, and comes before one without', () => {
    const templates = knowing('/items/:any', 'PUT /items/:id')
    assert.equal(templates.of('a').find('PUT', '/items/7')?.path, '/items/:id')
    assert.equal(templates.of('a').find('GET', '/items/7')?.path, '/items/:any')
    assert.equal(templates.of('a').find('SPECIAL', '/items/7')?.path, '/items/:any')
  })

  test('of GET is for HEAD, unless HEAD has one', () => {
    const templates = knowing('GET /a/:get', 'GET /b/:get', 'HEAD /b/:head')
    assert.equal(templates.of('a').find('HEAD', '/a/1')?.path, '/a/:get')
    assert.equal(templates.of('a').find('HEAD', '/b/1')?.path, '/b/:head')
    assert.equal(templates.of('a').find('POST', '/a/1'), undefined)
  })

  test('takes no more time with a path that almost matches in many ways', () => {
    const templates = knowing('/:a-:b-:c-:d-:e.html', '/:a-:b-:c-:d', '/*')
    // With regular expressions, years.
    assert.equal(templates.of('a').find('GET', `/${'-'.repeat(100_000)}`)?.path, '/:a-:b-:c-:d')
    assert.equal(templates.of('a').find('GET', `/${'-'.repeat(100_000)}/x`)?.path, '/*')
  })

  test('gives way to one with more fixed text, in any order', () => {
    const templates = knowing('/items/:id', '/items/all', '/*')
    assert.equal(templates.of('a').find('GET', '/items/all')?.path, '/items/all')
    assert.equal(templates.of('a').find('GET', '/items/7')?.path, '/items/:id')
    assert.equal(templates.of('a').find('GET', '/other/7')?.path, '/*')
  })

  for (const url of ['', '*', '/%', '/items/%zz', 'http://a/items/7', '//items/7', `/items/${'x'.repeat(2000)}`])
    test(`of an odd target is found or not, without an error: ${url.slice(0, 20)}`, () => {
      const found = knowing('/items/:id').of('a').find('GET', url)
      assert.ok(found === undefined || found.path === '/items/:id')
    })

  for (const text of [
    'items',
    'get /items',
    'GET items',
    '/a b',
    '',
    `/${'x'.repeat(100)}`,
    '/a/*b/c',
    '/:',
    '/a/:/b',
    '/:a(.+)',
    '/:a(x|y)',
    '/{a',
    '/:id(((',
    '/:a?/b',
    '/a?x=1',
    '/x#y',
    '/<int:id>',
    '/:a:b',
    '/a?',
    '/a\u001b[31m',
    '/a\u0085',
  ])
    test(`${JSON.stringify(text.slice(0, 12))} is none, and is not known`, () => {
      assert.equal(readTemplate(text), undefined)
      assert.equal(knowing(text).of('a').find('GET', text), undefined)
    })

  test('with many optional parts is none: each would double the patterns', () => {
    assert.notEqual(readTemplate('/a{/:b}{/:c}{/:d}'), undefined)
    assert.equal(readTemplate('/a{/:b}{/:c}{/:d}{/:e}'), undefined)
  })
})

test(`a service has up to ${maxTemplates} templates, and others their own`, () => {
  const templates = new PathTemplates((path) => ({ path }))
  const add = (service: string, all: readonly string[]): number =>
    templates.add({ service, templates: all, withdrawn: [] })?.templates.length ?? 0
  // Those of another syntax take no place.
  assert.equal(add('a', ['/:a(.+)', 'no template']), 0)
  const many = Array.from({ length: maxTemplates + 1 }, (_, at) => `/a${at}`)
  assert.equal(add('a', many), maxTemplates)
  assert.equal(templates.of('a').find('GET', many.at(-1)!), undefined)
  assert.equal(add('a', many), 0)
  assert.equal(add('b', many.slice(0, 1)), 1)
})

test('a template that was withdrawn makes room, and is not found again; those of the config stay', () => {
  const templates = new PathTemplates((path) => ({ path }))
  const many = Array.from({ length: maxTemplates - 1 }, (_, at) => `/a${at}`)
  templates.configure({ service: 'a', templates: ['/mine'] })
  templates.add({ service: 'a', templates: many, withdrawn: [] })
  const kept = templates.of('a').find('GET', '/a1')
  templates.add({ service: 'a', templates: ['/:id'], withdrawn: ['/a0', '/mine', '/never/known'] })
  const found = (url: string): object | undefined => templates.of('a').find('GET', url)
  assert.deepEqual([found('/a0'), found('/mine')], [{ path: '/:id' }, { path: '/mine' }])
  assert.equal(found('/a1'), kept)
  assert.equal(templates.add({ service: 'a', templates: ['/a0', '/never/known'], withdrawn: ['/a0'] }), undefined)
  // The config may name what was found, or withdrawn, before, if there is a place.
  templates.add({ service: 'a', templates: [], withdrawn: ['/a2'] })
  templates.configure({ service: 'a', templates: ['/a0', '/a1'] })
  templates.add({ service: 'a', templates: [], withdrawn: ['/a0', '/a1'] })
  assert.deepEqual([found('/a0'), found('/a1')], [{ path: '/a0' }, kept])
})

test(`up to ${maxWithdrawn} withdrawn templates are remembered, and none that is too long`, () => {
  const templates = new PathTemplates((path) => ({ path }))
  const withdraw = (...withdrawn: readonly string[]): number =>
    templates.add({ service: 'a', templates: [], withdrawn })?.withdrawn.length ?? 0
  const many = Array.from({ length: maxWithdrawn }, (_, at) => `/a${at}`)
  assert.equal(withdraw('/one', ...many), maxWithdrawn + 1)
  assert.equal(withdraw(...many, `/${'a'.repeat(8000)}`), 0)
  const found = templates.add({ service: 'a', templates: ['/one', '/a1'], withdrawn: [] })
  assert.deepEqual(found?.templates, ['/one'])
})

function knowing(...all: readonly string[]): PathTemplates<{ readonly path: string }> {
  const templates = new PathTemplates((path) => ({ path }))
  templates.add({ service: 'a', templates: all, withdrawn: [] })
  return templates
}
