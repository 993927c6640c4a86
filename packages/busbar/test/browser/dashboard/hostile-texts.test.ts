/** Texts that services, clients and files choose: the page shows them, and never runs them. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { noChromium } from '../../support/browser.ts'
import { pollUntil } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { OpenedPage, pages } from './opened-page.ts'

/** Would leave a mark if a browser took it for code. */
function hostile(where: string): string {
  return `<img src=x onerror="marked='${where}'">${where}"'><script>marked='${where}'</script>`
}

/** Wider than a telephone. */
const longName = 'w'.repeat(54)

const program = `
const { createServer } = require('node:http')
console.log(${JSON.stringify(hostile('line'))})
console.log(JSON.stringify({ level: 50, msg: ${JSON.stringify(hostile('message'))}, [${JSON.stringify(hostile('field'))}]: 1 }))
console.log('{"level":30,"msg":"half a character","traceId":"\\\\ud83d"}')
createServer((request, response) => {
  if (request.url === '/throw') throw new Error(${JSON.stringify(hostile('error'))})
  response.end(${JSON.stringify(hostile('body'))})
}).listen(3000)
`

const report = JSON.stringify({
  version: 1,
  scenario: hostile('scenario'),
  question: hostile('question'),
  startedAt: '2026-01-01T00:00:00Z',
  arms: [{ name: hostile('arm'), title: hostile('arm') }],
})

describe('texts that look like code', { skip: noChromium }, () => {
  const files = new TestFolder({
    'busbar.config.json': JSON.stringify({
      gateway: { port: 0, entry: 'web' },
      services: { web: './web', other: './web', [longName]: './web' },
    }),
    'web/index.js': program,
    'results/result.json': report,
  })
  let opened: OpenedPage
  before(async () => {
    const path = `/${encodeURIComponent(hostile('path'))}?${hostile('query').replaceAll(' ', '+')}`
    opened = await OpenedPage.open({ folder: files.path, paths: [path, `/${'long'.repeat(1000)}`] })
    await opened.view({ theme: 'dark', width: 1440 })
  })
  after(async () => {
    await opened?.[Symbol.asyncDispose]()
    files[Symbol.dispose]()
  })

  it('are shown as texts: lines of the log, errors, and reasons of restarts', async () => {
    const { url } = opened.running.addresses[0]!
    await fetch(new URL('/throw', url)).catch(() => {})
    await opened.goTo('services')
    await opened.tab.locator('.exit').getByText(hostile('error')).first().waitFor()
    await opened.goTo('logs')
    await opened.tab.getByText(hostile('line')).first().waitFor()
    await opened.tab.getByText(hostile('message')).first().waitFor()
    await opened.tab.getByText('half a character').first().waitFor()
  })

  it('are shown as texts: paths of traces, answers, and reports', async () => {
    const { tab, running } = opened
    await pollUntil(() => running.status().workers.every(({ state }) => state === 'serving'))
    await opened.goTo('traces')
    await tab.getByText('longlong').first().waitFor()
    const { x, width } = (await tab.locator('main .badge').first().boundingBox())!
    assert.ok(x + width < 1440, 'a long path moves the status out of view')
    await tab
      .locator('main a.mono', { hasText: encodeURIComponent('<img') })
      .first()
      .click()
    await tab.locator('.hop').first().waitFor()
    await tab.getByText(encodeURIComponent('<img')).first().waitFor()
    await tab.evaluate(`location.hash = '#/traces/${'f'.repeat(32)}'`)
    await tab.getByText('This trace cannot be shown').waitFor()
    assert.equal(await tab.locator('.hop').count(), 0, 'another trace is shown')
    await opened.goTo('api')
    await tab.getByRole('button', { name: 'Send' }).click()
    await tab.locator('.answer').getByText(hostile('body')).waitFor()
    await opened.goTo('reports')
    await tab.getByText(hostile('scenario')).first().click()
  })

  it('show what is wrong with a report that is incomplete, and the other pages go on', async () => {
    const { tab } = opened
    await tab.getByRole('alert').getByText('This page cannot show what it has got').waitFor()
    await tab.getByRole('link', { name: 'Reports' }).click()
    await tab.getByText(hostile('scenario')).first().waitFor()
    await opened.goTo('logs')
    await tab.getByText(hostile('line')).first().waitFor()
  })

  it('in the address of the page are pages that do not exist', async () => {
    const { tab } = opened
    for (const page of ['latency', 'logs', 'reports', 'traces', 'nowhere'])
      for (const end of [encodeURIComponent(hostile('hash')), '%', '%3'])
        await tab.evaluate(`location.hash = ${JSON.stringify(`#/${page}/${end}`)}`)
    await tab.goto(`${opened.running.pageUrl}/#token=${encodeURIComponent(hostile('token'))}`)
    await tab.reload()
    await tab.getByRole('heading', { name: 'Topology' }).waitFor()
  })

  it('are no wider than the page, its controls and the nodes of its graph', async () => {
    const found: string[] = []
    for (const width of [1440, 360]) {
      await opened.view({ theme: 'light', width })
      await opened.tab.locator(`[data-node="${longName}"]`).waitFor()
      for (const page of pages) {
        await opened.goTo(page)
        await opened.tab.locator('main .card').first().waitFor()
        const where = `${page || 'topology'}-${width}`
        await opened.screenshot(`hostile-${where}`)
        if (await opened.isTooWide()) found.push(`${where} is too wide`)
        found.push(...(await wideParts(opened)).map((part) => `${where}: ${part}`))
      }
    }
    assert.deepEqual(found, [])
  })

  it('have run nowhere, and have asked for nothing', async () => {
    assert.equal(await opened.tab.evaluate('globalThis.marked'), undefined)
    assert.equal(await opened.tab.locator('main img').count(), 0)
    assert.deepEqual(opened.foreign, [])
    // What was asked for and does not exist is no error of the page.
    assert.deepEqual(
      opened.complaints.filter((text) => !/status of 404/.test(text)),
      [],
    )
  })
})

/** Controls that are wider than what they are in, and nodes whose text goes over their border. */
async function wideParts({ tab }: OpenedPage): Promise<string[]> {
  return await tab.evaluate<string[]>(`
    const rightOf = (element) => element.getBoundingClientRect().right
    const selects = [...document.querySelectorAll('main select')]
      .filter((one) => rightOf(one) > rightOf(one.closest('.card, .page')) + 1)
      .map((one) => 'the select of ' + one.closest('label').firstChild.textContent.trim())
    const nodes = [...document.querySelectorAll('.node')]
      .filter((one) => rightOf(one) > rightOf(one.querySelector('.box')) + 1)
      .map((one) => 'the node ' + one.dataset.node)
    ;[...selects, ...nodes]
  `)
}
