/** What the page says when the app refuses it, or does not answer for a moment. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { noChromium } from '../../support/browser.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { LiveReader } from '../../support/http/live-reader.ts'
import { OpenedPage } from './opened-page.ts'

describe('a dashboard that does not get what it asks for', { skip: noChromium }, () => {
  const files = new TestFolder({
    'busbar.config.json': JSON.stringify({ gateway: { port: 0, entry: 'web' }, services: { web: './web' } }),
    'web/index.js': `require('node:http').createServer((_, response) => response.end('ok')).listen(3000)`,
  })
  let opened: OpenedPage
  before(async () => {
    opened = await OpenedPage.open({ folder: files.path, paths: ['/'] })
    await opened.view({ theme: 'light', width: 1440 })
  })
  after(async () => {
    await opened?.[Symbol.asyncDispose]()
    files[Symbol.dispose]()
  })

  for (const [page, path, found] of [
    ['services', '/describe', 'tr[data-service="web"]'],
    ['api', '/describe', 'form.try'],
    ['traces', '/traces?*', 'tr[data-trace]'],
  ] as const)
    it(`says so on the page ${page}, and asks again`, async () => {
      const { tab } = opened
      const url = `${opened.running.pageUrl}${path}`
      await tab.route(url, (route) => route.abort())
      await opened.goTo(page)
      await tab.getByRole('alert').getByText('The page tries again by itself').waitFor()
      assert.equal(await tab.locator(found).count(), 0)
      await tab.unroute(url)
      await tab.locator(found).first().waitFor()
      await tab.getByRole('alert').waitFor({ state: 'detached' })
    })

  it('says why the app does not let it follow', async () => {
    const url = `${opened.running.pageUrl}/live`
    const readers = await Promise.all(Array.from({ length: 15 }, () => LiveReader.open(url, `Bearer ${opened.token}`)))
    try {
      const tab = await opened.tab.context().newPage()
      await tab.goto(`${opened.running.pageUrl}/#token=${opened.token}`)
      await tab.getByText('16 clients follow this app already').waitFor()
      assert.equal(await tab.getByText('does not answer').count(), 0)
      await readers.pop()![Symbol.asyncDispose]()
      await tab.getByRole('heading', { name: 'Topology' }).waitFor()
      await tab.locator('.lost').waitFor({ state: 'detached' })
      await tab.close()
    } finally {
      for (const reader of readers) await reader[Symbol.asyncDispose]()
    }
  })

  it('shows the share of traces as it is in the config', async () => {
    const url = `${opened.running.pageUrl}/traces?*`
    await opened.tab.route(url, (route) => route.fulfill({ json: { sample: 0.07, traces: [] } }))
    await opened.goTo('traces')
    await opened.tab.getByText('Recent traces, 7 % of all requests', { exact: true }).waitFor()
    await opened.tab.unroute(url)
  })

  it('shows the first page for a name that no page has', async () => {
    await opened.goTo('constructor')
    await opened.tab.getByRole('heading', { name: 'Topology' }).waitFor()
  })

  it('says what is wrong with a token', async () => {
    const { tab } = opened
    const alert = tab.getByRole('alert')
    await tab.getByRole('button', { name: 'Sign out' }).click()
    await tab.getByLabel('Token').waitFor()
    assert.equal(await alert.count(), 0)
    for (const [token, problem] of [
      ['a wrong token', 'refuses this token'],
      ['токен', 'is not valid'],
    ] as const) {
      await tab.getByLabel('Token').fill(token)
      await tab.getByRole('button', { name: 'Sign in' }).click()
      await alert.getByText(problem).waitFor()
    }
    assert.deepEqual(await opened.violations(), [])
    // As an earlier version of the page may have kept it.
    await tab.evaluate(`sessionStorage.setItem('busbar-token', 'токен')`)
    await tab.reload()
    await tab.getByLabel('Token').fill(opened.token)
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await tab.getByRole('heading', { name: 'Topology' }).waitFor()
  })

  it('takes the token from an address that is opened in a tab with the page', async () => {
    const { tab } = opened
    await tab.getByRole('button', { name: 'Sign out' }).click()
    await tab.getByLabel('Token').waitFor()
    await tab.evaluate(`location.hash = 'token=${opened.token}'`)
    await tab.getByRole('heading', { name: 'Topology' }).waitFor()
    assert.equal(new URL(tab.url()).hash, '#/')
    await tab.getByRole('link', { name: 'Topology' }).and(tab.locator('[aria-current]')).waitFor()
  })
})
