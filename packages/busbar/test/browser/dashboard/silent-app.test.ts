/** An app whose process is suspended: its connections stay open, and nothing comes from them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { launchChromium, noChromium } from '../../support/browser.ts'

const files = {
  'index.js': `require('node:http').createServer((_, response) => response.end('ok')).listen(3000)`,
  'package.json': { name: 'an-app-with-a-long-long-name' },
}

it(
  'the dashboard says since when an app does not answer, and goes on when it answers again',
  { skip: noChromium },
  async () => {
    using folder = new TestFolder(files)
    await using busbar = new BusbarProcess(['start', folder.path, '--port', '0', '--open'])
    const file = String((await busbar.event(({ dashboard }) => dashboard !== undefined))['dashboard'])
    const [, address, token] = /url=(http:\/\/[^/]+)\/#token=([\w-]+)"/.exec(readFileSync(file, 'utf8'))!
    const response = await fetch(`${address}/status`, { headers: { authorization: `Bearer ${token}` } })
    const { app } = (await response.json()) as { app: { pid: number } }
    await using browser = await launchChromium()
    const tab = await browser.newPage({ viewport: { width: 800, height: 600 } })
    await tab.goto(`${address}/#token=${token}`)
    const bar = tab.locator('.topbar')
    await bar.getByText('ready', { exact: true }).waitFor()
    const isTooWide = (): Promise<boolean> => tab.evaluate('document.documentElement.scrollWidth > innerWidth')
    assert.equal(await isTooWide(), false)

    process.kill(app.pid, 'SIGSTOP')
    try {
      await tab.getByText(/does not answer: nothing has come from it since \d\d:\d\d:\d\d/).waitFor()
      await bar.getByText(/^no answer since \d\d:\d\d:\d\d$/).waitFor()
      assert.equal(await bar.getByText('ready', { exact: true }).count(), 0)
      assert.equal(await isTooWide(), false)
    } finally {
      process.kill(app.pid, 'SIGCONT')
    }
    await tab.locator('.lost').waitFor({ state: 'detached' })
    await bar.getByText('ready', { exact: true }).waitFor()
  },
)
