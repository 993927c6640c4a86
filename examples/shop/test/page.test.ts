import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { launchChromium, noChromium } from '../../../packages/busbar/test/support/browser.ts'
import { Shop } from './app.ts'

describe('the page of the shop', { skip: noChromium }, () => {
  let shop: Shop
  let browser: Browser

  before(async () => {
    shop = await Shop.open()
    browser = await launchChromium()
  })
  after(async () => {
    await browser?.close()
    await shop?.[Symbol.asyncDispose]()
  })

  for (const [mode, query] of [
    ['with its server', ''],
    ['without a server', '?local'],
  ] as const)
    describe(mode, () => {
      let visitor: Visitor
      before(async () => (visitor = await Visitor.open(browser, `${shop.url}/${query}`)))
      after(() => visitor.leave())

      it('shows featured products', async () => {
        await visitor.sees('#title', 'Featured')
        assert.equal(await visitor.page.locator('.card').count(), 6)
        assert.equal(await visitor.page.locator('#mode').isVisible(), query !== '')
      })

      it('searches, and reports when nothing is found', async () => {
        await visitor.page.fill('#search', 'lamp')
        await visitor.sees('#title', 'Found for “lamp”')
        assert.deepEqual(await visitor.page.locator('.card h3').allTextContents(), ['Harbour lamp', 'Desk lamp'])
        await visitor.page.fill('#search', 'piano')
        await visitor.sees('#note', 'Nothing. Try another word.')
        await visitor.page.fill('#search', '')
        await visitor.sees('#title', 'Featured')
      })

      it('adds products to the cart, however fast they are clicked, and removes them', async () => {
        const add = visitor.page.locator('[data-product="6"] button')
        await add.evaluate((button: { click(): void }) => [1, 2, 3, 4].forEach(() => button.click()))
        await visitor.sees('#count', '4')
        await visitor.page.click('#open')
        await visitor.page.click('[aria-label="Less of Slim shelf"]')
        await visitor.sees('#count', '3')
        await visitor.sees('#total', '€216.00')
      })

      it(query === '' ? 'keeps the cart for the next visit' : 'forgets the cart with the page', async () => {
        await visitor.page.reload()
        await visitor.sees('#count', query === '' ? '3' : '0')
        if (query !== '') await visitor.buys(6, 3)
      })

      it('reports errors of an order, and then accepts it', async () => {
        await visitor.page.click('#open')
        await visitor.orders('Ada', 'ada')
        await visitor.sees('#message', 'Please look at your email again.')
        await visitor.orders('Ada', 'ada@example.org')
        await visitor.sees('#message', /^Thank you, Ada: order \d+ for €216.00 is on its way.$/)
        await visitor.sees('#count', '0')
      })

      it('shows that a product is sold out', async () => {
        await visitor.sees('[data-product="6"] .left', 'sold out')
        assert.equal(await visitor.page.locator('[data-product="6"] button').isEnabled(), false)
      })

      it('caused no errors in the browser', () => assert.deepEqual(visitor.complaints, []))
    })

  it('shows a visitor the purchases of another', async () => {
    const one = await Visitor.open(browser, shop.url)
    const other = await Visitor.open(browser, shop.url)
    await one.sees('[data-product="2"] .left', '6 left')
    await other.buys(2, 2)
    await other.page.click('#open')
    await other.orders('Grace', 'grace@example.org')
    await one.sees('[data-product="2"] .left', '4 left')
    await Promise.all([one.leave(), other.leave()])
  })

  it('makes no requests with ?local after loading', async () => {
    const asked: string[] = []
    const visitor = await Visitor.open(browser, `${shop.url}/?local`, (url) => asked.push(new URL(url).pathname))
    await visitor.buys(1, 1)
    assert.deepEqual(asked.toSorted(), ['/', '/basket.css', '/page.js', '/style.css'])
    await visitor.leave()
  })
})

/** A visitor with their own browser profile. */
class Visitor {
  readonly page: Page
  readonly complaints: string[] = []
  readonly #context: BrowserContext

  private constructor(context: BrowserContext, page: Page) {
    this.#context = context
    this.page = page
    page.on('pageerror', ({ message }) => this.complaints.push(message))
    // The browser logs every answer other than 2xx, such as that to an order with a wrong address.
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('status of 422')) this.complaints.push(message.text())
    })
  }

  static async open(browser: Browser, url: string, asked: (url: string) => void = () => {}): Promise<Visitor> {
    const context = await browser.newContext()
    const page = await context.newPage()
    page.on('request', (request) => request.url().startsWith('data:') || asked(request.url()))
    const visitor = new Visitor(context, page)
    await page.goto(url)
    await page.locator('.card').first().waitFor()
    return visitor
  }

  /** Waits until the element has this text. */
  async sees(selector: string, text: string | RegExp): Promise<void> {
    const element = this.page.locator(selector)
    await element.filter({ hasText: text }).waitFor({ state: 'attached' })
    if (typeof text === 'string') assert.equal(await element.textContent(), text)
  }

  async buys(product: number, count: number): Promise<void> {
    for (let at = 1; at <= count; at++) {
      await this.page.click(`[data-product="${product}"] button`)
      await this.sees('#count', String(at))
    }
  }

  async orders(name: string, email: string): Promise<void> {
    await this.page.fill('[name=name]', name)
    await this.page.fill('[name=email]', email)
    await this.page.click('#order')
  }

  async leave(): Promise<void> {
    await this.#context.close()
  }
}
