import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page as Tab } from 'playwright-core'
import { launchChromium, noChromium } from '../support/browser.ts'
import { bundle, type Bundle } from '../support/bundle.ts'

describe('busbar/fetch in a service worker', { skip: noChromium }, () => {
  let bundled: Bundle
  let pages: Server
  let browser: Browser
  let tab: Tab

  before(async () => {
    bundled = await bundle(join(import.meta.dirname, 'worker.ts'))
    pages = await servePage(bundled.code)
    browser = await launchChromium()
    tab = await browser.newPage()
    await tab.goto(`http://localhost:${(pages.address() as AddressInfo).port}/`)
    await tab.waitForFunction('navigator.serviceWorker.controller !== null')
  })

  after(async () => {
    await browser?.close()
    pages?.closeAllConnections()
    pages?.close()
  })

  const post = (path: string, body: string): Promise<[number, string]> =>
    tab.evaluate(
      async ([path, body]) => {
        const headers = { 'content-type': 'application/json' }
        const response = await fetch(path, { method: 'POST', body, headers })
        return [response.status, await response.text()]
      },
      [path, body] as const,
    )

  it('uses no module of Node', () => assert.deepEqual(bundled.builtins, []))

  it('answers calls of the page', async () =>
    assert.deepEqual(await post('/api/sums/add', '{"a":1,"b":2}'), [200, '3']))

  it('refuses invalid input', async () => assert.equal((await post('/api/sums/add', '{"a":"x"}'))[0], 422))

  it('streams', async () => assert.deepEqual(await post('/api/sums/count', '{"to":2}'), [200, '1\n2\n{"$end":true}\n']))
})

/** The server has only these two paths, so the worker answers below `/api`. */
async function servePage(code: string): Promise<Server> {
  const server = createServer((req, res) => {
    if (req.url === '/worker.js') res.setHeader('content-type', 'text/javascript').end(code)
    else if (req.url === '/') res.setHeader('content-type', 'text/html').end(html)
    else res.writeHead(404).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

const html = `<!doctype html><link rel="icon" href="data:,"><script>navigator.serviceWorker.register('/worker.js')</script>`
