/** What holds for every page of the dashboard, in some views of it. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { noChromium } from '../../support/browser.ts'
import { OpenedPage, pages, type View } from './opened-page.ts'

const examples = new URL('../../../../../examples/', import.meta.url).pathname

/** `name`: of the example. `paths`: are asked for, so that the pages have something to show. */
export function describeViews(name: string, paths: readonly string[], views: readonly View[]): void {
  describe(`every page of the dashboard of ${name}`, { skip: noChromium }, () => {
    let opened: OpenedPage
    before(async () => (opened = await OpenedPage.open({ folder: `${examples}${name}`, paths })))
    after(() => opened?.[Symbol.asyncDispose]())

    for (const view of views)
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
          found.push(...(await opened.linksOutOfView()).map((link) => `${where} does not show the link ${link}`))
        }
        assert.deepEqual(found, [])
      })

    it('violates no policy, asks no other server, and has no error', () => {
      assert.deepEqual(opened.complaints, [])
      assert.deepEqual(opened.foreign, [])
    })
  })
}
