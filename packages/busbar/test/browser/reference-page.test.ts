import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page as Tab } from 'playwright-core'
import { loadApp } from '../../src/config/load.ts'
import type { RunningApp } from '../../src/supervisor/running-app.ts'
import { startSupervisor } from '../../src/supervisor/supervisor.ts'
import { launchChromium, noChromium } from '../support/browser.ts'

const folder = new URL('../gateway/programs/described', import.meta.url).pathname

describe('the page of an app’s document', { skip: noChromium }, () => {
  let app: RunningApp
  let browser: Browser
  let tab: Tab
  const asked: string[] = []
  const complaints: string[] = []

  before(async () => {
    app = await startSupervisor(await loadApp(folder, { env: {} }), {
      mode: 'start',
      log: () => {},
      timing: { stale: 60_000 },
    })
    browser = await launchChromium()
    tab = await browser.newPage()
    tab.on('request', (request) => asked.push(request.url()))
    tab.on('pageerror', ({ message }) => complaints.push(message))
    tab.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    await tab.goto(new URL('/docs', app.addresses[0]!.url).href)
  })

  after(async () => {
    await browser?.close()
    await app?.stop()
  })

  it('shows the methods of every service', async () => {
    for (const text of ['What is on the first page', '/shop/baskets/{id}', '/old/v1/things/{id}'])
      await tab.getByText(text).first().waitFor()
  })

  it('makes a call', async () => {
    const response = tab.waitForResponse((one) => one.url().endsWith('/api/catalog/featured'))
    await tab.getByRole('button', { name: /Test Request.*\/api\/catalog\/featured/ }).click()
    await tab.getByRole('button', { name: /Send/ }).first().click()
    assert.deepEqual(await (await response).json(), [{ id: 1, name: 'lamp' }])
  })

  it('sends requests only to the app, and violates no CSP', () => {
    const { origin } = new URL(app.addresses[0]!.url)
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(origin) && !/^(?:data|blob):/.test(url)),
      [],
    )
    assert.deepEqual(complaints, [])
  })
})
