import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { noChromium } from '../../support/browser.ts'
import { OpenedPage, pages, type View } from './opened-page.ts'

const examples = new URL('../../../../../examples/', import.meta.url).pathname

const shop = {
  folder: `${examples}shop`,
  paths: ['/', '/api/catalog/featured', '/api/catalog/search?text=lamp', '/nothing'],
}
const fanout = { folder: `${examples}fanout`, paths: ['/tsfastify/ipc', '/tsfastify/nothing'] }

const views: readonly View[] = (['light', 'dark'] as const).flatMap((theme) =>
  [1440, 900, 390].map((width) => ({ theme, width })),
)

for (const [name, example, shown] of [
  ['shop', shop, views],
  ['fanout', fanout, [{ theme: 'dark', width: 1440 }]],
] as const)
  describe(`every page of the dashboard of ${name}`, { skip: noChromium }, () => {
    let opened: OpenedPage
    before(async () => (opened = await OpenedPage.open(example)))
    after(() => opened?.[Symbol.asyncDispose]())

    for (const view of shown)
      it(`is accessible and fits, ${view.theme}, ${view.width} wide`, async () => {
        const found: string[] = []
        await opened.view(view)
        for (const page of pages) {
          await opened.goTo(page)
          // Until it has something to show.
          await opened.tab.locator('main .card').first().waitFor()
          const where = `${page || 'topology'}-${view.theme}-${view.width}`
          await opened.screenshot(`${name}-${where}`)
          found.push(...(await opened.violations()).map((violation) => `${where}: ${violation}`))
          if (await opened.isTooWide()) found.push(`${where} is too wide`)
        }
        assert.deepEqual(found, [])
      })

    it('violates no policy, asks no other server, and has no error', () => {
      assert.deepEqual(opened.complaints, [])
      assert.deepEqual(opened.foreign, [])
    })
  })
