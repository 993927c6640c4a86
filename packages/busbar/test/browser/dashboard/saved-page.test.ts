/** The last minutes of an app as one file, which a browser opens without the app and offline. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { BrowserContext, Page as Tab } from 'playwright-core'
import { noChromium } from '../../support/browser.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { OpenedPage } from './opened-page.ts'

const shop = {
  folder: new URL('../../../../../examples/shop', import.meta.url).pathname,
  paths: ['/', '/api/catalog/featured'],
}

describe('a page that was saved', { skip: noChromium }, () => {
  const files = new TestFolder()
  const complaints: string[] = []
  const requests: string[] = []
  const file = files.at('saved.html')
  let opened: OpenedPage
  let context: BrowserContext
  let tab: Tab

  before(async () => {
    opened = await OpenedPage.open(shop)
    await opened.view({ theme: 'light', width: 1440 })
    await opened.tab.locator('tr[data-edge]').first().waitFor()
    await opened.goTo('traces')
    await opened.tab.locator('tr[data-trace]').first().waitFor()
    await opened.tab.getByRole('button', { name: 'Save the last minutes' }).click()
    await opened.screenshot('save')
    assert.deepEqual(await opened.violations(), [])
    const download = opened.tab.waitForEvent('download')
    await opened.tab.locator('dialog[open]').getByRole('button', { name: 'Save', exact: true }).click()
    const saved = await download
    assert.match(saved.suggestedFilename(), /^busbar-[\w-]*shop-\d{8}-\d{4}\.html$/)
    await saved.saveAs(file)
    await opened.stopLoad()
    context = await opened.browser.newContext({ offline: true, viewport: { width: 1440, height: 900 } })
    tab = await context.newPage()
    tab.on('pageerror', ({ message }) => complaints.push(message))
    tab.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    tab.on('request', (request) => requests.push(request.url()))
    await tab.goto(pathToFileURL(file).href)
  })
  after(async () => {
    await opened?.[Symbol.asyncDispose]()
    files[Symbol.dispose]()
  })

  const goTo = async (page: string): Promise<void> => {
    await tab.getByRole('link', { name: page }).click()
    await tab.getByRole('heading', { name: page, level: 1 }).waitFor()
    await opened.screenshot(`saved-${page.toLowerCase()}`, tab)
  }

  it('says that it is one, and has the topology with its rates', async () => {
    await tab.getByText(/^Saved on .* with what happened since /).waitFor()
    await tab.locator('.topbar').getByText('saved', { exact: true }).waitFor()
    for (const { service } of (await opened.status()).services) await tab.locator(`[data-node="${service}"]`).waitFor()
    const calls = await tab.locator('tr[data-edge] [data-calls]').first().getAttribute('data-calls')
    assert.ok(Number(calls) > 0)
    await opened.screenshot('saved-topology', tab)
  })

  it('has each of the other pages, without actions', async () => {
    for (const page of ['Services', 'Latency', 'Runtime', 'Traces', 'Logs']) await goTo(page)
    for (const name of ['Profile', 'API', 'Reports', 'Sign out'])
      assert.equal(await tab.locator('.sidebar').getByText(name, { exact: true }).count(), 0, name)
    await goTo('Services')
    assert.equal(await tab.getByRole('button', { name: /Reload|Restart|Move|Profile/ }).count(), 0)
  })

  it('has its traces, each with its hops, and its log', async () => {
    await goTo('Traces')
    await tab.locator('tr[data-trace] a').first().click()
    await tab.locator('[data-hop]').first().click()
    await tab.getByText('transport', { exact: true }).waitFor()
    await goTo('Logs')
    await tab.locator('.line').first().waitFor()
  })

  it('asks no server, has no error, and does not contain the token', () => {
    assert.deepEqual(
      requests.filter((url) => !url.startsWith('file:') && !url.startsWith('data:')),
      [],
    )
    assert.deepEqual(complaints, [])
    assert.equal(readFileSync(file, 'utf8').includes(opened.token), false)
  })
})
