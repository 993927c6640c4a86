import assert from 'node:assert/strict'
import { it } from 'node:test'
import { launchChromium, noChromium } from '../../support/browser.ts'
import { AppProcess } from './app-process.ts'

it(
  'a restart from the dashboard stops and starts the app, and the page connects again',
  { skip: noChromium },
  async () => {
    await using app = await AppProcess.start('only')
    const { busbar } = app
    const before = await app.status()
    await using browser = await launchChromium()
    const tab = await browser.newPage()
    await tab.goto(app.page)
    await tab.getByRole('link', { name: 'Services' }).click()
    await tab.getByText(`process ${before.pid}`, { exact: false }).first().waitFor()
    await tab.getByRole('button', { name: 'Restart…' }).click()
    await tab.locator('dialog[open]').getByRole('button', { name: 'Restart', exact: true }).click()
    await tab.getByText('The app stops and starts again').waitFor()
    await busbar.until(() => busbar.events.filter(({ addresses }) => addresses !== undefined).length > 1)
    const after = await app.status()
    assert.ok(after.startedAt > before.startedAt)
    await tab.locator('.lost').waitFor({ state: 'detached' })
    await tab.locator('.topbar').getByText('ready', { exact: true }).waitFor()
    // The rates of the new run begin with nothing.
    await tab.locator('tr[data-service="only"] [data-calls="0"]').waitFor()
  },
)
