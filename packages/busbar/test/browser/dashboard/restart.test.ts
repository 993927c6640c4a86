import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import type { AppStatus } from '../../../src/observe/app-status.ts'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { launchChromium, noChromium } from '../../support/browser.ts'

const files = {
  'index.js': `require('node:http').createServer((_, response) => response.end('ok')).listen(3000)`,
  'package.json': { name: 'only' },
}

it(
  'a restart from the dashboard stops and starts the app, and the page connects again',
  { skip: noChromium },
  async () => {
    using folder = new TestFolder(files)
    await using busbar = new BusbarProcess(['start', folder.path, '--port', '0', '--open'])
    const file = String((await busbar.event(({ dashboard }) => dashboard !== undefined))['dashboard'])
    const [, address, token] = /url=(http:\/\/[^/]+)\/#token=([\w-]+)"/.exec(readFileSync(file, 'utf8'))!
    const appOf = async (): Promise<AppStatus['app']> => {
      const response = await fetch(`${address}/status`, { headers: { authorization: `Bearer ${token}` } })
      return ((await response.json()) as AppStatus).app
    }
    const before = await appOf()
    await using browser = await launchChromium()
    const tab = await browser.newPage()
    await tab.goto(`${address}/#token=${token}`)
    await tab.getByRole('link', { name: 'Services' }).click()
    await tab.getByText(`process ${before.pid}`, { exact: false }).first().waitFor()
    await tab.getByRole('button', { name: 'Restart…' }).click()
    await tab.locator('dialog[open]').getByRole('button', { name: 'Restart', exact: true }).click()
    await tab.getByText('The app stops and starts again').waitFor()
    await busbar.until(() => busbar.events.filter(({ addresses }) => addresses !== undefined).length > 1)
    const after = await appOf()
    assert.ok(after.startedAt > before.startedAt)
    await tab.locator('.lost').waitFor({ state: 'detached' })
    await tab.locator('.topbar').getByText('ready', { exact: true }).waitFor()
    // The rates of the new run begin with nothing.
    await tab.locator('tr[data-service="only"] [data-calls="0"]').waitFor()
  },
)
