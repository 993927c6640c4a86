/** An app whose process is suspended: its connections stay open, and nothing comes from them. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { launchChromium, noChromium } from '../../support/browser.ts'
import { AppProcess } from './app-process.ts'

it(
  'the dashboard says since when an app does not answer, and goes on when it answers again',
  { skip: noChromium },
  async () => {
    await using app = await AppProcess.start('an-app-with-a-long-long-name')
    const { pid } = await app.status()
    await using browser = await launchChromium()
    const tab = await browser.newPage({ viewport: { width: 800, height: 600 } })
    await tab.goto(app.page)
    const bar = tab.locator('.topbar')
    await bar.getByText('ready', { exact: true }).waitFor()
    const isTooWide = (): Promise<boolean> => tab.evaluate('document.documentElement.scrollWidth > innerWidth')
    assert.equal(await isTooWide(), false)

    process.kill(pid, 'SIGSTOP')
    try {
      await tab.getByText(/does not answer: nothing has come from it since \d\d:\d\d:\d\d/).waitFor()
      await bar.getByText(/^no answer since \d\d:\d\d:\d\d$/).waitFor()
      assert.equal(await bar.getByText('ready', { exact: true }).count(), 0)
      assert.equal(await isTooWide(), false)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await tab.locator('.lost').waitFor({ state: 'detached' })
    await bar.getByText('ready', { exact: true }).waitFor()
  },
)
