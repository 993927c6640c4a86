import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Router } from '../../../src/mesh/routing/router.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'

describe('the router', () => {
  const router = new Router(['catalog', 'big.shop'])

  for (const [host, service] of [
    ['catalog.internal', 'catalog'],
    ['Catalog.INTERNAL', 'catalog'],
    ['catalog.internal.', 'catalog'],
    ['big.shop.internal', 'big.shop'],
  ] as const)
    test(`${host} means ${service}`, () => assert.equal(router.serviceOf(host), service))

  for (const host of [
    '',
    '.',
    '.internal',
    'internal',
    'catalog',
    'catalog.internal..',
    'catalog.internal.example.com',
    'other.internal',
    'metadata.google.internal',
    'x.catalog.internal',
    'catalog-internal',
    'catalogxinternal',
    '127.0.0.1',
  ])
    test(`${JSON.stringify(host)} goes to the network`, () => assert.equal(router.serviceOf(host), undefined))

  test('finds an instance only while it serves, and says why it found none', async () => {
    await using endpoint = new TestEndpoint('catalog', () => {})
    const router = new Router(['catalog'])
    assert.equal(router.find('catalog'), undefined)
    assert.equal(router.stateOf('catalog'), 'starting')
    router.add(endpoint)
    assert.equal(router.find('catalog'), endpoint)
    assert.equal(router.stateOf('catalog'), 'serving')
    endpoint.state = 'draining'
    assert.equal(router.find('catalog'), undefined)
    assert.equal(router.stateOf('catalog'), 'draining')
    router.remove(endpoint)
    assert.equal(router.stateOf('catalog'), 'stopped')
  })

  test('removing an old instance does not affect its successor', async () => {
    await using old = new TestEndpoint('catalog', () => {})
    await using fresh = new TestEndpoint('catalog', () => {})
    const router = new Router(['catalog'])
    router.add(old)
    router.add(fresh)
    router.remove(old)
    assert.equal(router.find('catalog'), fresh)
  })
})
