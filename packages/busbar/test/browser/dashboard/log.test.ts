/** Lines of loggers of all kinds: what is in them decides nothing about the others. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { noChromium } from '../../support/browser.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { OpenedPage } from './opened-page.ts'

/** Prints what it is asked to. */
const program = `
const { createServer } = require('node:http')
createServer((request, response) => {
  const { searchParams } = new URL(request.url, 'http://any')
  for (const line of searchParams.getAll('line')) console.log(line)
  const trace_id = request.headers.traceparent?.split('-')[1]
  if (searchParams.has('traced')) console.log(JSON.stringify({ level: 30, msg: searchParams.get('traced'), traceId: 'none', trace_id }))
  response.end()
}).listen(3000)
`

const now = Date.now()
const odd: Readonly<Record<string, object>> = {
  'a name of a level': { level: 'info', time: now },
  'a time as a text': { level: 30, time: new Date(now).toISOString() },
  'a time that has passed': { level: 30, time: now - 5000 },
  'a time in seconds': { level: 30, time: Math.floor(now / 1000) },
  'a time to come': { level: 30, time: now + 3600_000 },
  'a time of no clock': { level: 30, time: 1e20 },
  'a level below all': { level: -5, time: now },
  'a level above all': { level: 'FATAL', time: 'yesterday' },
}

describe('lines of the log in the dashboard', { skip: noChromium }, () => {
  const files = new TestFolder({
    'busbar.config.json': JSON.stringify({ gateway: { port: 0, entry: 'web' }, services: { web: './web' } }),
    'web/index.js': program,
  })
  let opened: OpenedPage
  before(async () => {
    opened = await OpenedPage.open({ folder: files.path, paths: ['/'] })
    // What it saves must not be dropped meanwhile.
    await opened.stopLoad()
    await opened.view({ theme: 'light', width: 1440 })
    await opened.goTo('logs')
  })
  after(async () => {
    await opened?.[Symbol.asyncDispose]()
    files[Symbol.dispose]()
  })

  const print = async (...lines: readonly string[]): Promise<void> => {
    const query = new URLSearchParams(lines.map((line): [string, string] => ['line', line]))
    await (await fetch(new URL(`/?${query.toString()}`, opened.running.addresses[0]!.url))).text()
  }
  const texts = (): Promise<string[]> => opened.tab.locator('.lines .message').allTextContents()
  const countOf = async (text: string): Promise<number> => (await texts()).filter((one) => one === text).length

  it('are there whatever their level and time are, and so are those after them', async () => {
    for (const [msg, fields] of Object.entries(odd)) {
      await print(JSON.stringify({ ...fields, msg }), `after ${msg}`)
      await opened.tab.getByText(`after ${msg}`, { exact: true }).waitFor()
      await opened.tab.getByText(msg, { exact: true }).waitFor()
    }
    const line = opened.tab.locator('.line', { hasText: 'a time of no clock' }).first()
    assert.equal(await line.locator('time').textContent(), '100000000000000000000')
    await opened.tab.getByLabel('Level').selectOption('fatal and above')
    await opened.tab.getByText('a level above all', { exact: true }).waitFor()
    assert.deepEqual(await texts(), ['a level above all'])
    await opened.tab.getByLabel('Level').selectOption('all')
  })

  it('of a trace are shown with it, and lead to it', async () => {
    const { tab } = opened
    const url = opened.running.addresses[0]!.url
    for (const text of ['of one', 'of another']) await (await fetch(new URL(`/?traced=${text}`, url))).text()
    const line = tab.locator('.line', { hasText: 'of one' })
    await tab.locator('.line', { hasText: 'of another' }).waitFor()
    assert.deepEqual(await opened.violations(), [])
    await line.locator('summary').click()
    await line.getByRole('link', { name: 'its trace' }).click()
    await tab.getByRole('heading', { name: 'Its lines of the log' }).waitFor()
    assert.deepEqual(await texts(), ['of one'])
    assert.deepEqual(await opened.violations(), [])
    await opened.screenshot('lines-of-a-trace')
    await opened.goTo('logs')
  })

  it('are there once each, also if they are equal and the stream was cut between them', async () => {
    await print(...Array.from({ length: 30 }, () => 'same'), 'first')
    await opened.tab.getByText('first', { exact: true }).waitFor()
    assert.equal(await countOf('same'), 30)
    const url = `${opened.running.pageUrl}/live?*`
    await opened.tab.route(url, (route) => route.abort())
    await opened.tab.evaluate('stop()')
    await opened.tab.locator('.lost').waitFor()
    await print(...Array.from({ length: 20 }, () => 'same'), 'last')
    await opened.tab.unroute(url)
    await opened.tab.getByText('last', { exact: true }).waitFor()
    assert.equal(await countOf('same'), 50)
  })

  it('are in a page that is saved, and there when the page is loaded again', async () => {
    const { tab } = opened
    await tab.getByRole('button', { name: 'Save the last minutes' }).click()
    const download = tab.waitForEvent('download')
    await tab.locator('dialog[open]').getByRole('button', { name: 'Save', exact: true }).click()
    const saved = readFileSync(await (await download).path(), 'utf8')
    for (const msg of Object.keys(odd)) assert.ok(saved.includes(`"text":"${msg}"`), msg)
    await tab.reload()
    await tab.getByText('last', { exact: true }).waitFor()
    const shown = await texts()
    for (const msg of Object.keys(odd)) assert.ok(shown.includes(msg), msg)
    assert.deepEqual(
      opened.complaints.filter((text) => !text.includes('ERR_FAILED')),
      [],
    )
  })
})
