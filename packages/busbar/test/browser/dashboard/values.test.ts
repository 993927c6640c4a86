import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AppStatus } from '../../../src/observe/app-status.ts'
import { noChromium } from '../../support/browser.ts'
import { OpenedPage } from './opened-page.ts'

const fanout = {
  folder: new URL('../../../../../examples/fanout', import.meta.url).pathname,
  paths: ['/tsfastify/ipc', '/tsfastify/nothing'],
}

type Edge = AppStatus['edges'][number]

describe('what the dashboard shows', { skip: noChromium }, () => {
  let opened: OpenedPage
  let status: AppStatus

  before(async () => {
    opened = await OpenedPage.open(fanout)
    await opened.view({ theme: 'light', width: 1440 })
    await opened.tab.locator('[data-flow="tsfastify→type4"]').waitFor()
    await opened.stopLoad()
    status = await opened.status()
  })
  after(() => opened?.[Symbol.asyncDispose]())

  it('has a node for each service and a line for each pair, and selects the calls of one', async () => {
    const { tab } = opened
    for (const { service } of status.services) await tab.locator(`[data-node="${service}"]`).waitFor()
    const pairs = new Set(status.edges.map(({ caller, callee }) => `${caller}→${callee}`))
    for (const pair of pairs) await tab.locator(`[data-flow="${pair}"]`).waitFor()
    await tab.locator('[data-flow="tsfastify→type4"]').press('Enter')
    await tab.getByRole('heading', { name: 'Calls: tsfastify → type4' }).waitFor()
    const expected = status.edges.filter(({ caller, callee }) => caller === 'tsfastify' && callee === 'type4')
    assert.equal(await tab.locator('tr[data-edge]').count(), expected.length)
    await tab.getByRole('button', { name: 'Show all' }).click()
    await tab.locator('tr[data-edge]').nth(expected.length).waitFor()
  })

  it('agrees with the admin API in every edge', async () => {
    for (const edge of status.edges) {
      const row = opened.tab.locator(`tr[data-edge="${keyOf(edge)}"]`)
      await row.locator(`[data-calls="${edge.calls}"]`).waitFor()
      await row.locator(`[data-retries="${edge.retries}"]`).waitFor()
      await row.locator(`[data-p50="${edge.p50}"]`).waitFor()
      await row.locator(`[data-p99="${edge.p99}"]`).waitFor()
      for (const outcome of edge.outcomes) await row.getByText(`${outcome.status} × `).first().waitFor()
    }
  })

  it('agrees with it in every service and worker', async () => {
    await opened.goTo('services')
    for (const { service } of status.services) {
      const calls = status.instances.filter((one) => one.service === service).reduce((sum, one) => sum + one.calls, 0)
      await opened.tab.locator(`tr[data-service="${service}"] [data-calls="${calls}"]`).waitFor()
    }
    for (const { name, pid } of status.workers)
      await opened.tab.locator(`tr[data-worker="${name}"]`).getByText(`process ${pid}`).waitFor()
  })

  it('shows the latest trace as a waterfall with each of its hops', async () => {
    const { tab } = opened
    await opened.goTo('traces')
    const { traces } = await opened.api<{ traces: { id: string; hops: number }[] }>('/traces?limit=100')
    const { id } = traces.find(({ hops }) => hops > 3)!
    await tab.locator(`[data-trace="${id}"] a`).click()
    const { calls } = await opened.api<{ calls: { id: string; transport: string }[] }>(`/traces/${id}`)
    for (const call of calls) await tab.locator(`[data-hop="${call.id}"]`).waitFor()
    await tab.locator(`[data-hop="${calls[1]!.id}"]`).click()
    await tab.getByText(calls[1]!.transport, { exact: true }).first().waitFor()
    await opened.screenshot('waterfall')
  })

  it('enlarges the latencies of one route', async () => {
    await opened.goTo('')
    await opened.tab.locator('tr[data-edge] a').first().click()
    await opened.tab.getByText('p99 since the start').waitFor()
    await opened.screenshot('latency-of-one')
    await opened.tab.getByRole('button', { name: 'Close' }).click()
    await opened.tab.getByText('p99 since the start').waitFor({ state: 'detached' })
  })

  it('shows the log, and only the lines that are asked for', async () => {
    const { tab } = opened
    await opened.goTo('logs')
    await tab.locator('.line').first().waitFor()
    await tab.getByLabel('Contains').fill('no line has this text')
    await tab.getByText('No line matches').waitFor()
    await tab.getByLabel('Contains').fill('')
    await tab.getByRole('button', { name: 'Pause' }).click()
    await tab.getByRole('button', { name: 'Continue' }).click()
    await tab.getByLabel('Level').selectOption('fatal and above')
    await tab.getByText('No line matches').waitFor()
  })

  it('has no error', () => assert.deepEqual(opened.complaints, []))
})

function keyOf({ caller, callee, protocol, method, route, transport }: Edge): string {
  return [caller, callee, protocol, method, route, transport].join(' ')
}
