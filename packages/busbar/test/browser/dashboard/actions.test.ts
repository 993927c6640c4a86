import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { AppStatus } from '../../../src/observe/app-status.ts'
import { noChromium } from '../../support/browser.ts'
import { pollUntil } from '../../support/app/test-app.ts'
import { OpenedPage } from './opened-page.ts'

const shop = {
  folder: new URL('../../../../../examples/shop', import.meta.url).pathname,
  paths: ['/', '/api/catalog/featured'],
}

describe('the actions of the dashboard', { skip: noChromium }, () => {
  let opened: OpenedPage
  before(async () => {
    opened = await OpenedPage.open(shop)
    await opened.view({ theme: 'dark', width: 1440 })
  })
  after(() => opened?.[Symbol.asyncDispose]())

  const now = (): AppStatus => opened.running.status()
  const kindsOf = (service: string): string[] => {
    const { instances, workers } = now()
    return instances
      .filter((one) => one.service === service)
      .map(({ worker }) => workers.find((one) => one.worker === worker)!.kind)
  }
  const row = (service: string) => opened.tab.locator(`tr[data-service="${service}"]`)

  it('are in view at every width', async () => {
    await opened.goTo('services')
    for (const width of [390, 700, 900, 1100, 1440]) {
      await opened.tab.setViewportSize({ width, height: 900 })
      // Playwright scrolls what it clicks into view, a person does not.
      const hidden = await opened.tab.evaluate<string[]>(`
        [...document.querySelectorAll('tr[data-service="web"] td:last-child > .row button')]
          .filter((one) => one.closest('dialog') === null)
          .filter((one) => {
            const { left, right, top } = one.getBoundingClientRect()
            return document.elementFromPoint((left + right) / 2, top + 5) !== one
          })
          .map((one) => one.textContent)`)
      assert.deepEqual(hidden, [], `${width}`)
      await opened.tab.getByRole('button', { name: 'Sign out' }).click({ trial: true, timeout: 5000 })
    }
  })

  it('reload a service, and all', async () => {
    await opened.goTo('services')
    await row('web').getByRole('button', { name: 'Reload' }).click()
    await opened.tab.getByText(/web reloaded: .* worker/).waitFor()
    await opened.tab.getByRole('button', { name: 'Reload all' }).click()
    await opened.tab.getByText(/The app is reloaded: .* worker/).waitFor()
  })

  it('keep the focus of the keyboard', async () => {
    await opened.goTo('services')
    const focused = (): Promise<string> => opened.tab.evaluate<string>('document.activeElement.textContent')
    const buttons = row('web').getByRole('button')
    for (const name of ['Reload', 'Move…']) {
      const button = buttons.filter({ hasText: name })
      await button.focus()
      await opened.tab.keyboard.press('Enter')
      if (name === 'Move…') {
        assert.equal(await opened.tab.evaluate('document.activeElement.checked'), true)
        // The place where it is: nothing is to be moved.
        await opened.tab.keyboard.press('Enter')
        assert.equal(await opened.tab.locator('dialog[open]').count(), 1)
        await opened.tab.keyboard.press('Escape')
      }
      await opened.tab.locator('[aria-busy="true"]').waitFor({ state: 'detached' })
      assert.equal(await focused(), name)
    }
    await buttons.filter({ hasText: 'Profile' }).focus()
    await opened.tab.keyboard.press('Space')
    await opened.tab.getByLabel('Seconds').waitFor()
    await opened.tab.waitForFunction(`document.activeElement.id === 'content'`)
    await opened.goTo('services')
  })

  it('scale a service', async () => {
    await row('web').getByRole('button', { name: 'One more instance' }).click()
    await pollUntil(() => kindsOf('web').length === 2)
    await row('web').getByText('2', { exact: true }).waitFor()
    await row('web').getByRole('button', { name: 'One instance of web fewer' }).click()
    await pollUntil(() => kindsOf('web').length === 1)
  })

  it('move a service', async () => {
    await row('catalog').getByRole('button', { name: 'Move…' }).click()
    await opened.tab.locator('dialog[open] [value="process"]').check()
    await opened.screenshot('move')
    await opened.tab.locator('dialog[open]').getByRole('button', { name: 'Move', exact: true }).click()
    await pollUntil(
      () => kindsOf('catalog').join() === 'process',
      () => kindsOf('catalog'),
    )
    await row('catalog')
      .locator('td', { hasText: /^process/ })
      .waitFor()
  })

  it('show why a worker was restarted', async () => {
    const { pid } = now().workers.find(({ kind }) => kind === 'process')!
    process.kill(pid!, 'SIGKILL')
    await opened.tab.locator('.exit').getByText('SIGKILL').waitFor()
    await pollUntil(() => now().workers.every(({ state }) => state === 'serving'))
  })

  it('take a profile and show it as a flame graph', async () => {
    await row('web').getByRole('button', { name: 'Profile' }).click()
    await opened.tab.getByLabel('Seconds').fill('1')
    await opened.tab.getByRole('button', { name: 'Take a CPU profile' }).focus()
    await opened.tab.keyboard.press('Enter')
    await opened.tab.getByRole('heading', { name: 'Flame graph of web 0' }).waitFor()
    assert.equal(await opened.tab.evaluate('document.activeElement.textContent'), 'Take a CPU profile')
    const root = opened.tab.locator('.flame').first()
    await root.focus()
    await root.press('ArrowDown')
    const inner = opened.tab.locator('.flame:focus')
    assert.notEqual(await inner.getAttribute('data-frame'), await root.getAttribute('data-frame'))
    await inner.press('Enter')
    await opened.tab.getByRole('button', { name: 'Show all' }).waitFor()
    assert.deepEqual(await opened.violations(), [])
    await opened.screenshot('flames')
    await opened.tab.getByLabel('only own code').check()
    // The root is of V8.
    await opened.tab.waitForFunction(`document.querySelectorAll('.flame:not(.tone-own)').length === 1`)
    assert.equal(await opened.tab.locator('.flame[aria-label*=" gateway/"]').count(), 0)
    assert.deepEqual(await opened.violations(), [])
    await opened.screenshot('own-flames')
    await opened.tab.getByLabel('only own code').uncheck()
    await opened.tab.locator('.flame.tone-node').nth(1).waitFor()
    const download = opened.tab.waitForEvent('download')
    await opened.tab.getByRole('button', { name: 'Save', exact: true }).click()
    assert.match((await download).suggestedFilename(), /^web-0-\d+\.cpuprofile$/)
  })

  it('take a profile of what it allocates', async () => {
    const { tab } = opened
    await opened.goTo('services')
    await row('web').getByRole('button', { name: 'Profile' }).click()
    await tab.getByRole('combobox', { name: 'Of' }).selectOption('heap')
    await tab.getByLabel('Seconds').fill('1')
    await tab.getByRole('button', { name: 'Take a heap profile' }).click()
    const heading = tab.getByRole('heading', { name: /^Most memory/ })
    while (!(await heading.isVisible()))
      await fetch(opened.running.addresses[0]!.url).then((response) => response.text())
    assert.match(
      (await tab.locator('.flame').first().getAttribute('aria-label')) ?? '',
      /^\(root\) : [\d.]+ [kKMG]?i?B,/,
    )
    assert.deepEqual(await opened.violations(), [])
    await opened.screenshot('heap-flames')
    const download = tab.waitForEvent('download')
    await tab.getByRole('button', { name: 'Save', exact: true }).click()
    assert.match((await download).suggestedFilename(), /^web-0-\d+\.heapprofile$/)
  })

  it('save the lines of the log that match', async () => {
    const { tab } = opened
    await opened.goTo('logs')
    const lines = tab.locator('.lines .message')
    const text = (await lines.first().textContent())!
    await tab.getByLabel('Contains').fill(text)
    const download = tab.waitForEvent('download')
    await tab.getByRole('button', { name: 'Save', exact: true }).click()
    const file = await download
    assert.match(file.suggestedFilename(), /^.+-\d+\.log$/)
    const saved = readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\n')
    assert.equal(saved.length, await lines.count())
    for (const line of saved) assert.ok((JSON.parse(line) as { msg: string }).msg.includes(text))
  })

  it('send a request, call a method, and show the reference of the app', async () => {
    const { tab } = opened
    await opened.goTo('api')
    await tab.getByRole('button', { name: 'Send' }).click()
    await tab.locator('.answer').getByText('200 OK').waitFor()
    await tab.getByRole('combobox', { name: 'Service' }).selectOption('catalog')
    await tab.getByRole('combobox', { name: 'What' }).selectOption('method')
    await tab.getByRole('textbox', { name: 'Method' }).fill('search')
    await tab.getByLabel('Input, as JSON').fill('{ "text": "lamp" }')
    await tab.getByRole('button', { name: 'Send' }).click()
    await tab.locator('.answer').getByText('Harbour lamp').waitFor()
    await tab.getByRole('textbox', { name: 'Method' }).fill('serch')
    await tab.getByRole('button', { name: 'Send' }).click()
    await tab.locator('.answer').getByText('serch').waitFor()
    await tab.getByRole('button', { name: 'Show here' }).click()
    await tab.frameLocator('iframe').getByText('/api/checkout/order').first().waitFor({ state: 'attached' })
    await opened.screenshot('reference')
  })

  it('report what the app refuses', async () => {
    await opened.goTo('services')
    await opened.tab.getByRole('button', { name: 'Restart…' }).click()
    await opened.tab.locator('dialog[open]').getByRole('button', { name: 'Restart', exact: true }).click()
    await opened.tab.locator('.toast.bad').getByText('cannot restart it').waitFor()
    await opened.tab.locator('.toast.bad').getByRole('button', { name: 'Close' }).click()
    await opened.tab.locator('.toast.bad').waitFor({ state: 'detached' })
    assert.equal(await opened.tab.evaluate('document.activeElement.id'), 'content')
  })

  it('change the theme, and sign out and in', async () => {
    const { tab } = opened
    await tab.getByRole('button', { name: 'Use the light theme' }).click()
    await tab.getByRole('button', { name: 'Use the dark theme' }).waitFor()
    await tab.getByRole('button', { name: 'Sign out' }).click()
    await tab.getByLabel('Token').fill('a wrong token')
    await tab.getByRole('button', { name: 'Sign in' }).click()
    // It is refused, and the page asks again.
    await tab.getByLabel('Token').waitFor()
    assert.deepEqual(await opened.violations(), [])
    await opened.view({ theme: 'light', width: 900 })
    assert.doesNotMatch(tab.url(), /token/)
  })

  it('cause no error but those of the refusals', () => {
    const expected = /status of (?:401|404|409|422)/
    assert.deepEqual(
      opened.complaints.filter((text) => !expected.test(text)),
      [],
    )
  })

  it('say that the app is away when it has ended', async () => {
    await opened.stopLoad()
    await opened.running.stop()
    await opened.tab.getByText('The app does not answer').waitFor()
  })
})
