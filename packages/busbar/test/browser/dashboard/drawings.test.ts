/** What the page draws of many services, some of which do not count or time their calls. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Page as Tab } from 'playwright-core'
import type { AppStatus } from '../../../src/observe/app-status.ts'
import { noChromium } from '../../support/browser.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { OpenedPage } from './opened-page.ts'

const trace = { id: 'a'.repeat(32), start: Date.now(), duration: 100, hops: 2, failed: 0, services: ['web', 'far'] }
const first = { caller: null, service: 'web', method: 'GET', path: '/', status: 200 }
const hop = {
  ...first,
  parent: null,
  within: null,
  protocol: 'http',
  sent: 0,
  received: 5,
  queue: 0,
  attempts: 1,
  workers: [],
}
const known = {
  ...hop,
  id: 'known',
  spans: [],
  depth: 0,
  transport: 'local',
  start: 0,
  duration: 100,
  wire: 0,
  run: 100,
}
const unknown = {
  ...known,
  id: 'unknown',
  parent: 'known',
  depth: 1,
  caller: 'web',
  service: 'far',
  transport: 'tcp',
  duration: 50,
  wire: null,
  run: null,
  received: null,
}

describe('drawings of the dashboard', { skip: noChromium }, () => {
  const files = new TestFolder({
    'busbar.config.json': JSON.stringify({ gateway: { port: 0, entry: 'web' }, services: { web: './web' } }),
    'web/index.js': `require('node:http').createServer((_, response) => response.end('ok')).listen(3000)`,
  })
  let opened: OpenedPage
  /** What the page follows from now on. */
  let shown: AppStatus

  before(async () => {
    opened = await OpenedPage.open({ folder: files.path, paths: ['/'] })
    await opened.view({ theme: 'light', width: 1440 })
    await opened.tab.locator('tr[data-edge]').first().waitFor()
    shown = await opened.status()
    const { pageUrl } = opened.running
    await opened.tab.route(`${pageUrl}/live*`, async (route) => {
      const data = JSON.stringify({ at: Date.now(), status: shown, latencies: [], trace: trace.id })
      const body = `event: status\ndata: ${data}\n\n`
      await route.fulfill({ contentType: 'text/event-stream', body })
    })
    await opened.tab.route(`${pageUrl}/traces?*`, (route) =>
      route.fulfill({ json: { sample: 1, traces: [{ ...trace, first }] } }),
    )
    await opened.tab.route(`${pageUrl}/traces/*`, (route) =>
      route.fulfill({ json: { ...trace, first, calls: [known, unknown], own: [], dropped: 0 } }),
    )
  })
  after(async () => {
    await opened?.[Symbol.asyncDispose]()
    files[Symbol.dispose]()
  })

  /** The page follows the app anew. */
  const show = async (status: AppStatus): Promise<void> => {
    shown = status
    await opened.tab.reload()
    await opened.tab.locator('main h1').waitFor()
  }

  for (const count of [4, 12, 30])
    it(`have each label on its own line, of ${count} services`, async () => {
      const status = await opened.status()
      const edge = status.edges[0]!
      const edges = randomPairs(count).map(([caller, callee]) => ({ ...edge, caller, callee }))
      const services = Array.from({ length: count }, (_, at) => ({ ...status.services[0]!, service: `s${at}` }))
      const instances = services.map(({ service }) => ({ ...status.instances[0]!, service }))
      await show({ ...status, services, instances, edges })
      await opened.tab
        .locator('[data-flow]')
        .nth(edges.length - 1)
        .waitFor()
      await opened.screenshot(`topology-${count}`)
      assert.deepEqual(await labelsOffTheirLine(opened.tab), [])
    })

  it('have services without calls below the others, where no line crosses them', async () => {
    const status = await opened.status()
    const names = ['web', 'a', 'b', 'c', 'idle', 'other', 'unused']
    const edge = status.edges[0]!
    const edges = ['web', 'a', 'b', 'c'].map((callee) => ({ ...edge, caller: '', callee }))
    const services = names.map((service) => ({ ...status.services[0]!, service }))
    const instances = names.map((service) => ({ ...status.instances[0]!, service }))
    await show({ ...status, services, instances, edges })
    await opened.tab.locator('[data-flow]').nth(3).waitFor()
    await opened.screenshot('topology-idle')
    const tops = await opened.tab.evaluate<Readonly<Record<string, number>>>(
      `Object.fromEntries([...document.querySelectorAll('[data-node]')].map((one) => [one.dataset.node, one.getBoundingClientRect().top]))`,
    )
    const topOf = (name: string): number => tops[name]!
    assert.ok(
      names.slice(4).every((idle) => names.slice(0, 4).every((called) => topOf(idle) > topOf(called))),
      JSON.stringify(tops),
    )
  })

  it('show of a command the calls that its callers have counted', async () => {
    const status = await opened.status()
    const edge = status.edges[0]!
    await show({
      ...status,
      workers: status.workers.map((worker) => ({ ...worker, kind: 'command' })),
      instances: status.instances.map((one) => ({ ...one, inFlight: 0, calls: 0, failures: 0, callsPerSecond: 0 })),
      edges: [
        { ...edge, caller: '', callee: 'web', inFlight: 1, calls: 600, failures: 7, callsPerSecond: 20 },
        { ...edge, caller: 'other', callee: 'web', inFlight: 2, calls: 38, failures: 0, callsPerSecond: 1 },
      ],
    })
    await opened.goTo('services')
    const row = opened.tab.locator('tr[data-service="web"]')
    await row.locator('[data-calls="638"]').waitFor()
    assert.deepEqual(
      (await row.locator('td.num').allTextContents()).map((text) => text.trim()),
      ['3', '21/s', '638', '7'],
    )
  })

  it('tell in a trace what is not known from what ran', async () => {
    await opened.goTo(`traces/${trace.id}`)
    await tellsUnknown(opened.tab)
    await opened.screenshot('waterfall-unknown')
    await opened.tab.locator('[data-hop="unknown"]').click()
    for (const name of ['wire', 'run', 'received'])
      assert.equal(await opened.tab.locator(`dt:text-is("${name}") + dd`).textContent(), '–', name)
    assert.deepEqual(await opened.violations(), [])
  })

  it('tell it in a saved page, too', async () => {
    await opened.tab.getByRole('button', { name: 'Save the last minutes' }).click()
    const download = opened.tab.waitForEvent('download')
    await opened.tab.locator('dialog[open]').getByRole('button', { name: 'Save', exact: true }).click()
    const file = files.at('saved.html')
    await (await download).saveAs(file)
    const tab = await opened.tab.context().newPage()
    await tab.goto(`${pathToFileURL(file).href}#/traces/${trace.id}`)
    await tellsUnknown(tab)
    await tab.close()
  })

  it('list the services of other apps of which there are traces', async () => {
    await opened.goTo('traces')
    await opened.tab.locator('tr[data-trace]').waitFor()
    assert.ok((await opened.tab.getByLabel('Service').locator('option').allTextContents()).includes('far'))
  })
})

async function tellsUnknown(tab: Tab): Promise<void> {
  await tab.locator('[data-hop="unknown"]').waitFor()
  await tab.locator('.legend').getByText('wire and run are not known').waitFor()
  assert.match((await tab.locator('[data-hop="unknown"]').textContent()) ?? '', /wire and run are not known/)
  assert.doesNotMatch((await tab.locator('[data-hop="known"]').textContent()) ?? '', /not known/)
  assert.deepEqual(await coloursOf(tab, 'known'), [await swatchOf(tab, 'run')])
  assert.deepEqual(await coloursOf(tab, 'unknown'), [await swatchOf(tab, 'unknown')])
  assert.notEqual(await swatchOf(tab, 'unknown'), await swatchOf(tab, 'run'))
}

/** Of the bar of a hop, without parts of no width. */
async function coloursOf(tab: Tab, hop: string): Promise<string[]> {
  return await tab.evaluate<string[]>(
    `[...document.querySelectorAll('[data-hop="${hop}"] .track > * > *')]
      .filter((part) => part.getBoundingClientRect().width > 0).map((part) => getComputedStyle(part).background)`,
  )
}

async function swatchOf(tab: Tab, part: string): Promise<string> {
  return await tab.evaluate<string>(`getComputedStyle(document.querySelector('.swatch.${part}')).background`)
}

/** Those whose middle is not on their line. */
async function labelsOffTheirLine(tab: Tab): Promise<string[]> {
  return await tab.evaluate<string[]>(
    `[...document.querySelectorAll('[data-flow]')].filter((flow) => {
      const line = flow.querySelector('path.line')
      const { e: x, f: y } = flow.querySelector('g').transform.baseVal[0].matrix
      const length = line.getTotalLength()
      let nearest = Infinity
      for (let at = 0; at <= length; at += 1) {
        const point = line.getPointAtLength(at)
        nearest = Math.min(nearest, Math.hypot(point.x - x, point.y - y))
      }
      return nearest > 3
    }).map((flow) => flow.dataset.flow)`,
  )
}

/** The same in each run: some 2 lines for each service, also back and to itself. */
function randomPairs(count: number): [string, string][] {
  let seed = count
  const next = (): string => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return `s${Math.floor((seed / 2147483648) * count)}`
  }
  const found = new Map<string, [string, string]>()
  for (let at = 0; at < count * 2; at++) {
    const pair: [string, string] = [next(), next()]
    found.set(pair.join(), pair)
  }
  return [...found.values(), ['', 's0'] as [string, string]]
}
