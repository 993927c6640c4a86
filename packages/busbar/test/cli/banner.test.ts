import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Gateway } from '../../src/config/app.ts'
import { announce } from '../../src/cli/banner.ts'
import { processTerminal } from '../../src/cli/terminal.ts'
import type { RunningApp } from '../../src/supervisor/running.ts'
import { appOf, type AppSetup } from '../support/app.ts'

const openapi = { path: '/openapi.json', page: '/docs', beforeEntry: false, title: 'x', version: '1' }
const route = (prefix: string, service: string) => ({ host: undefined, prefix, service })

/** What a start says of the page, to those who read its log. */
function said(gateway: Partial<Gateway>): unknown {
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
  const running = { app, addresses: [{ ...address, url: 'http://127.0.0.1:3000' }] } as unknown as RunningApp
  const terminal = processTerminal()
  announce(running, {
    terminal: { ...terminal, out: { ...terminal.out, isTerminal: false } },
    log: log as never,
    took: 1,
  })
  return fields['reference']
}

describe('what a start says of the page of its OpenAPI document', () => {
  const url = 'http://127.0.0.1:3000/docs'

  it('is where it is', () => {
    assert.equal(said({ routes: [route('/api', 'items')] }), url)
    assert.equal(said({ entry: 'items' }), url)
    assert.equal(said({ entry: 'web', openapi: { ...openapi, beforeEntry: true } }), url)
  })

  it('is nothing where a program has that path, or nobody', () => {
    assert.equal(said({ entry: 'web', routes: [route('/api', 'items')] }), undefined)
    assert.equal(said({ routes: [route('/docs', 'items')] }), undefined)
    assert.equal(said({ routes: [route('', 'web')] }), undefined)
    assert.equal(said({ openapi: { ...openapi, page: undefined } }), undefined)
    assert.equal(said({ openapi: undefined }), undefined)
  })
})
