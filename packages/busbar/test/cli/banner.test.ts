import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { GatewayConfig } from '../../src/config/app.ts'
import { announce } from '../../src/cli/terminal/banner.ts'
import { processTerminal } from '../../src/cli/terminal/terminal.ts'
import type { RunningApp } from '../../src/supervisor/running-app.ts'
import { appOf, type AppSetup } from '../support/app/test-app.ts'

const openapi = { path: '/openapi.json', page: '/docs', beforeEntry: false, title: 'x', version: '1' }
const route = (prefix: string, service: string) => ({ host: undefined, prefix, service })

/** The fields of the start event in the log. `entrance`: its figures. */
function announced(gateway: Partial<GatewayConfig>, entrance: object | null = null): Record<string, unknown> {
  const services: AppSetup['services'] = { items: { file: '/x/index.js', kind: 'typed' }, web: '/y/index.js' }
  const app = appOf({ services, gateway: { entry: undefined, openapi, ...gateway } })
  const address = {
    id: 'gateway',
    host: '127.0.0.1',
    port: 3000,
    serves: { kind: 'gateway' },
    protocol: 'http',
  } as const
  let fields: Record<string, unknown> = {}
  const log = { event: (_level: string, _line: string, more: object) => void (fields = { ...more }) }
  const running = {
    app,
    addresses: [{ ...address, url: 'http://127.0.0.1:3000' }],
    status: () => ({ entrance }),
  } as unknown as RunningApp
  const terminal = processTerminal()
  announce(running, {
    terminal: { ...terminal, out: { ...terminal.out, isTerminal: false } },
    log: log as never,
    took: 1,
  })
  return fields
}

/** The URL of the API reference page. */
const announcedReference = (gateway: Partial<GatewayConfig>): unknown => announced(gateway)['reference']

it('the start event has the entrance that accepts the connections', () => {
  assert.equal(announced({ entry: 'items' })['entrance'], 'portable')
  assert.equal(announced({ entry: 'items' }, {})['entrance'], 'native')
})

describe('the API reference page in the start event', () => {
  const url = 'http://127.0.0.1:3000/docs'

  it('has its URL', () => {
    assert.equal(announcedReference({ routes: [route('/api', 'items')] }), url)
    assert.equal(announcedReference({ entry: 'items' }), url)
    assert.equal(announcedReference({ entry: 'web', openapi: { ...openapi, beforeEntry: true } }), url)
  })

  it('is absent if a program serves that path, or nothing does', () => {
    assert.equal(announcedReference({ entry: 'web', routes: [route('/api', 'items')] }), undefined)
    assert.equal(announcedReference({ routes: [route('/docs', 'items')] }), undefined)
    assert.equal(announcedReference({ routes: [route('', 'web')] }), undefined)
    assert.equal(announcedReference({ openapi: { ...openapi, page: undefined } }), undefined)
    assert.equal(announcedReference({ openapi: undefined }), undefined)
  })
})
