import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { loadApp } from '../../../src/config/load.ts'
import type { Route } from '../../../src/config/app.ts'
import type { RunningApp } from '../../../src/supervisor/running-app.ts'
import { entranceLibrary } from '../../../src/entrance/load.ts'
import { startSupervisor } from '../../../src/supervisor/supervisor.ts'
import { behindEntrance, TestApp } from '../../support/app/test-app.ts'
import { folderWithBusbar, type Files } from '../../support/app/test-folder.ts'

interface Document {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Record<string, Record<string, { operationId?: string; security?: unknown; responses: unknown }>>
  readonly components: Record<string, Record<string, object>>
  readonly 'x-busbar-notes': string[]
}

async function start(folder: string, lines: string[] = []): Promise<{ app: RunningApp; url: string }> {
  const log = ({ line }: { line: string }): void => void lines.push(line)
  const loaded = behindEntrance(await loadApp(folder, { env: {} }))
  const app = await startSupervisor(loaded, {
    mode: 'start',
    log,
    timing: { stale: 60_000 },
    entrance: entranceLibrary,
  })
  return { app, url: app.addresses[0]!.url.replace(/\/$/, '') }
}

describe('the document of an app', () => {
  const lines: string[] = []
  let app: RunningApp
  let url: string
  let document: Document

  before(async () => {
    ;({ app, url } = await start(new URL('../programs/described', import.meta.url).pathname, lines))
    document = (await (await fetch(`${url}/openapi.json`)).json()) as Document
  })
  after(async () => await app.stop())

  it('is valid for an independent validator', async () => {
    const { valid, errors } = await new Validator().validate(
      structuredClone(document) as unknown as Record<string, unknown>,
    )
    assert.ok(valid, JSON.stringify(errors))
  })

  it('has the name and version of the app', () => {
    assert.deepEqual(document.info, { title: 'described', version: '3.1.4' })
  })

  it('has the services’ paths below their routes, with their own base paths', () => {
    assert.deepEqual(Object.keys(document.paths).toSorted(), [
      '/api/catalog/featured',
      '/api/products/{id}',
      '/old/v1/things/{id}',
      '/shop/baskets/{id}',
    ])
  })

  it('has paths that work', async () => {
    const response = await fetch(`${url}/api/products/1`)
    assert.deepEqual(await response.json(), { id: 1, name: 'lamp' })
  })

  it('renames different components of one name, and the references to them', () => {
    const { schemas } = document.components
    assert.ok(schemas!['Product'] && schemas!['old.Product'])
    assert.match(JSON.stringify(schemas!['Thing']), /#\/components\/schemas\/old\.Product"/)
    assert.ok(
      document['x-busbar-notes'].some((note) => note.startsWith('schemas/Product of old is schemas/old.Product')),
    )
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/([^/"]+)\/([^/"]+)"/g)
    for (const [, kind, name] of references) assert.ok(document.components[kind!]?.[name!], `${kind}/${name}`)
  })

  it('has unique operation ids', () => {
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    )
    assert.equal(new Set(ids).size, ids.length)
  })

  it('has a document’s security on each operation', () => {
    assert.deepEqual(document.paths['/shop/baskets/{id}']!['get']!.security, [{ key: [] }])
    assert.equal(document.paths['/old/v1/things/{id}']!['get']!.security, undefined)
  })

  it('converts documents of 3.0 to 3.1', () => {
    const { schemas } = document.components
    assert.match(JSON.stringify(schemas!['Thing']), /"type":\["string","null"\]/)
    assert.match(JSON.stringify(schemas!['old.Product']), /"exclusiveMinimum":0/)
  })

  it('leaves out a service without a document, with a note', () => {
    const note = "Service 'silent' is left out: /nothing.json answered 404"
    assert.ok(document['x-busbar-notes'].includes(note))
    assert.ok(lines.includes(`OpenAPI: ${note}`))
  })

  it('can be read by pages of the configured origins', async () => {
    const allowed = async (origin: string): Promise<string | null> =>
      (await fetch(`${url}/openapi.json`, { headers: { origin } })).headers.get('access-control-allow-origin')
    assert.equal(await allowed('https://page.example'), 'https://page.example')
    assert.equal(await allowed('https://other.example'), null)
  })

  it('is served for GET and HEAD only', async () => {
    assert.equal((await fetch(`${url}/openapi.json`, { method: 'HEAD' })).status, 200)
    assert.equal((await fetch(`${url}/openapi.json`, { method: 'POST' })).status, 404)
  })

  it('is also served for each service below its route', async () => {
    const own = (await (await fetch(`${url}/api/openapi.json`)).json()) as Document
    assert.deepEqual(Object.keys(own.paths), ['/products/{id}', '/catalog/featured'])
  })

  it('redirects from the page with a trailing slash', async () => {
    const response = await fetch(`${url}/docs/`)
    assert.deepEqual([response.status, response.url], [200, `${url}/docs`])
  })

  it('has a page that refers to it, and loads nothing from other origins', async () => {
    const response = await fetch(`${url}/docs`)
    assert.match(response.headers.get('content-type')!, /^text\/html/)
    assert.match(response.headers.get('content-security-policy')!, /default-src 'none'.*connect-src 'self'/)
    const text = await response.text()
    assert.match(text, /data-url="openapi\.json"/)
    assert.match(text, /src="docs\/reference\.js"/)
    assert.doesNotMatch(text, /https?:\/\//)
  })
})

describe('the document of an app whose routes do not strip prefixes', () => {
  it('has the reachable paths of each service, and they work', async () => {
    const described = await loadApp(new URL('../programs/described', import.meta.url).pathname, { env: {} })
    const whole = { products: 'catalog', catalog: 'catalog', v1: 'old', baskets: 'shop' }
    const routes: Route[] = [
      { host: undefined, prefix: '/shop', service: 'shop' },
      ...Object.entries(whole).map(([first, service]) => ({
        host: undefined,
        prefix: `/${first}`,
        service,
        strip: false,
      })),
    ]
    await using app = await TestApp.startLoaded(
      behindEntrance({ ...described, gateway: { ...described.gateway, routes } }),
    )
    const document = (await (await fetch(new URL('/openapi.json', app.url))).json()) as Document
    assert.deepEqual(Object.keys(document.paths).toSorted(), [
      '/baskets/{id}',
      '/catalog/featured',
      '/products/{id}',
      '/shop/baskets/{id}',
      '/v1/things/{id}',
    ])
    const statuses = [
      await fetch(new URL('/products/1', app.url)),
      await fetch(new URL('/catalog/featured', app.url), { method: 'POST' }),
      await fetch(new URL('/baskets/1', app.url)),
      await fetch(new URL('/shop/baskets/1', app.url)),
    ].map(({ status }) => status)
    assert.deepEqual(statuses, [200, 200, 200, 200])
  })
})

describe('the document of an app whose services run in other workers', () => {
  for (const run of ['thread', 'process'] as const)
    it(`is the same: a ${run} each`, async () => {
      const described = await loadApp(new URL('../programs/described', import.meta.url).pathname, { env: {} })
      const services = described.services.map((service) => ({ ...service, run }))
      const app = await startSupervisor(behindEntrance({ ...described, services }), {
        mode: 'start',
        log: () => {},
        timing: { stale: 60_000 },
        entrance: entranceLibrary,
      })
      try {
        const url = new URL('/openapi.json', app.addresses[0]!.url)
        const { paths } = (await (await fetch(url)).json()) as Document
        assert.deepEqual(Object.keys(paths).toSorted(), [
          '/api/catalog/featured',
          '/api/products/{id}',
          '/old/v1/things/{id}',
          '/shop/baskets/{id}',
        ])
      } finally {
        await app.stop()
      }
    })
})

const web = `require('node:http').createServer((req, res) => res.end('own ' + req.url)).listen(3000)`
const typed = (http = ''): Files => ({
  'items/contract.ts': `import { fn, service } from 'busbar/contract'\nexport const items = service('items', { list: fn({ ${http} }) })`,
  'items/index.ts': `import { items } from './contract.ts'\nexport default items.implement({ list: () => {} })`,
})

describe('what services have at the paths of the document and the page', () => {
  const cases: Record<string, { config: object; files: Files; docs: RegExp; status: number }> = {
    'a route': {
      config: {
        gateway: { routes: { '/docs': 'web', '/api': 'items' } },
        services: { web: './web', items: './items' },
      },
      files: { 'web/index.js': web, ...typed() },
      docs: /^own \//,
      status: 200,
    },
    'a program that is the entry': {
      config: { gateway: { entry: 'web', routes: { '/api': 'items' } }, services: { web: './web', items: './items' } },
      files: { 'web/index.js': web, ...typed() },
      docs: /^own \/docs/,
      status: 200,
    },
    'a method of a typed entry': {
      config: { gateway: { entry: 'items' }, services: { items: './items' } },
      files: typed("http: 'GET /docs'"),
      docs: /^$/,
      status: 204,
    },
  }
  for (const [what, { config, files, docs, status }] of Object.entries(cases))
    it(`has priority: ${what}`, async () => {
      const defaults = { run: 'shared' }
      using folder = folderWithBusbar({ 'busbar.config.json': withPort({ defaults, ...config }), ...files })
      const { app, url } = await start(folder.path)
      try {
        const response = await fetch(`${url}/docs`)
        assert.equal(response.status, status)
        assert.match(await response.text(), docs)
      } finally {
        await app.stop()
      }
    })

  it('is behind a document with a configured path', async () => {
    const gateway = { entry: 'web', routes: { '/api': 'items' }, openapi: { page: '/reference' } }
    const services = { web: './web', items: './items' }
    const config = withPort({ defaults: { run: 'shared' }, gateway, services })
    using folder = folderWithBusbar({ 'busbar.config.json': config, 'web/index.js': web, ...typed() })
    const { app, url } = await start(folder.path)
    try {
      const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as Document
      assert.deepEqual(Object.keys(paths), ['/api/items/list'])
      assert.match(await (await fetch(`${url}/reference`)).text(), /<!doctype html>/)
      assert.equal(await (await fetch(`${url}/docs`)).text(), 'own /docs')
    } finally {
      await app.stop()
    }
  })

  it('is all that is served if the config turns the document off', async () => {
    const gateway = { routes: { '/api': 'items' }, openapi: false }
    using folder = folderWithBusbar({
      'busbar.config.json': withPort({ gateway, services: { items: './items' } }),
      ...typed(),
    })
    const { app, url } = await start(folder.path)
    try {
      for (const path of ['/openapi.json', '/docs', '/api/openapi.json'])
        assert.equal((await fetch(url + path)).status, 404, path)
    } finally {
      await app.stop()
    }
  })
})

function withPort({ gateway, ...config }: { readonly gateway?: object; readonly [key: string]: unknown }): object {
  return { ...config, gateway: { port: 0, ...gateway } }
}
