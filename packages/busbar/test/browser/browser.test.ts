import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page as Tab } from 'playwright-core'
import { TestApp } from '../support/app/test-app.ts'
import { launchChromium, noChromium } from '../support/browser.ts'
import { bundle } from '../support/bundle.ts'
import type { Page, Scenario } from './page.ts'

const file = join(import.meta.dirname, 'programs', 'probe', 'index.ts')

describe('busbar/client in a browser', { skip: noChromium }, () => {
  let app: TestApp
  let pages: Server
  let browser: Browser
  let tab: Tab

  before(async () => {
    pages = await servePage(await bundle(join(import.meta.dirname, 'page.ts')))
    app = await TestApp.start({
      services: { probe: { file, kind: 'typed' } },
      gateway: {
        entry: undefined,
        routes: [{ host: undefined, prefix: '/api', service: 'probe' }],
        cors: [originOf(pages, 'localhost')],
      },
    })
    browser = await launchChromium()
    tab = await browser.newPage()
    await tab.goto(originOf(pages, 'localhost'))
  })

  after(async () => {
    await browser?.close()
    await app?.[Symbol.asyncDispose]()
    pages?.closeAllConnections()
    pages?.close()
  })

  for (const where of ['over HTTP, from a page of another origin', 'with the service in the page itself'])
    describe(where, () => {
      const url = (): string | undefined => (where.startsWith('over') ? api() : undefined)
      const run = (scenario: Scenario): Promise<unknown> => runIn(tab, scenario, `${scenario} ${where}`, url())

      it('is answered', async () => assert.equal(await run('answer'), 3))

      it('gets every kind of value', async () =>
        assert.deepEqual(await run('values'), ['1970-01-01T00:00:00.000Z', '18446744073709551616', [1, 255], [1]]))

      it('gets the errors that a method declares', async () =>
        assert.deepEqual(await run('declared'), { status: 404, id: 7 }))

      it('gets the paths of invalid input', async () => assert.deepEqual(await run('invalid'), [['b']]))

      it('reads a stream to its end', async () => assert.deepEqual(await run('stream'), [1, 2, 3, 4, 5]))

      it('cancels a stream, and the service is notified', async () => {
        const [seen, left] = (await run('leaving')) as [number[], string]
        assert.deepEqual(seen, [1, 2, 3])
        assert.match(left, /was left$/)
      })

      it('cancels a call, and the service is notified', async () =>
        assert.deepEqual(await run('aborting'), ['CALL_ABORTED', 'CALL_ABORTED']))

      it('does not exceed its timeout', async () => assert.equal(await run('timeout'), 'DEADLINE_EXCEEDED'))

      it('sends metadata', async () => assert.deepEqual(await run('metadata'), { language: 'eo' }))
    })

  it('a field that cannot be in a path is refused', async () => {
    const refused = Array.from({ length: 4 }, () => 'INPUT_INVALID')
    assert.deepEqual(await runIn(tab, 'pathFields', 'path', api()), [...refused, '%2e.', 'a/b'])
  })

  it('a stream can be read by EventSource, without a client', async () => {
    const seen = await tab.evaluate(
      (url) => (globalThis as never as { page: Page }).page.events(url),
      `${api()}/count/4`,
    )
    assert.deepEqual(seen, [1, 2, 3, 4])
  })

  it('a page of an unlisted origin is refused', async () => {
    const stranger = await browser.newPage()
    await stranger.goto(originOf(pages, '127.0.0.1'))
    assert.equal(await runIn(stranger, 'failing', 'stranger', api()), 'SERVICE_HANGUP')
    await stranger.close()
  })

  it('the browser logs no errors', async () => {
    const said: string[] = []
    const fresh = await browser.newPage()
    fresh.on('console', (message) => said.push(message.text()))
    fresh.on('pageerror', (error) => said.push(error.message))
    await fresh.goto(originOf(pages, 'localhost'))
    await runIn(fresh, 'answer', 'fresh', api())
    await fresh.close()
    assert.deepEqual(said, [])
  })

  function api(): string {
    return `${app.url.replace(/\/$/, '')}/api`
  }
})

function runIn(tab: Tab, scenario: Scenario, name: string, url: string | undefined): Promise<unknown> {
  return tab.evaluate(
    ([scenario, name, url]) => (globalThis as never as { page: Page }).page.run(scenario, name, url),
    [scenario, name, url] as const,
  )
}

/** The same page at two origins: `localhost` and 127.0.0.1. */
async function servePage({ code }: { readonly code: string }): Promise<Server> {
  const server = createServer((req, res) => {
    if (req.url === '/page.js') res.setHeader('content-type', 'text/javascript').end(code)
    else if (req.url === '/') res.setHeader('content-type', 'text/html').end(html)
    else res.writeHead(204).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

const html =
  '<!doctype html><title>probe</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>'

function originOf(server: Server, host: string): string {
  return `http://${host}:${(server.address() as AddressInfo).port}`
}
