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

      it('shows what is featured', async () => {
        await visitor.sees('#title', 'Featured')
        assert.equal(await visitor.page.locator('.card').count(), 6)
        assert.equal(await visitor.page.locator('#mode').isVisible(), query !== '')
      })

      it('finds what is searched for, and says so when there is nothing', async () => {
        await visitor.page.fill('#search', 'lamp')
        await visitor.sees('#title', 'Found for “lamp”')
        assert.deepEqual(await visitor.page.locator('.card h3').allTextContents(), ['Harbour lamp', 'Desk lamp'])
        await visitor.page.fill('#search', 'piano')
        await visitor.sees('#note', 'Nothing. Try another word.')
        await visitor.page.fill('#search', '')
        await visitor.sees('#title', 'Featured')
      })

      it('puts products into the cart, however fast they are clicked, and takes them out', async () => {
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

      it('says what is wrong with an order, and then takes it', async () => {
        await visitor.page.click('#open')
        await visitor.orders('Ada', 'ada')
        await visitor.sees('#message', 'Please look at your email again.')
        await visitor.orders('Ada', 'ada@example.org')
        await visitor.sees('#message', /^Thank you, Ada: order \d+ for €216.00 is on its way.$/)
        await visitor.sees('#count', '0')
      })

      it('shows that something is sold out', async () => {
        await visitor.sees('[data-product="6"] .left', 'sold out')
        assert.equal(await visitor.page.locator('[data-product="6"] button').isEnabled(), false)
      })

      it('did nothing that a browser complains about', () => assert.deepEqual(visitor.complaints, []))
    })

  it('shows one visitor what another one buys', async () => {
    const one = await Visitor.open(browser, shop.url)
    const other = await Visitor.open(browser, shop.url)
    await one.sees('[data-product="2"] .left', '6 left')
    await other.buys(2, 2)
    await other.page.click('#open')
    await other.orders('Grace', 'grace@example.org')
    await one.sees('[data-product="2"] .left', '4 left')
    await Promise.all([one.leave(), other.leave()])
  })

  it('asks a server for nothing with ?local, once it is there', async () => {
    const asked: string[] = []
    const visitor = await Visitor.open(browser, `${shop.url}/?local`, (url) => asked.push(new URL(url).pathname))
    await visitor.buys(1, 1)
    assert.deepEqual(asked.toSorted(), ['/', '/page.js', '/style.css'])
    await visitor.leave()
  })
})

/** Somebody with a browser profile of their own. */
class Visitor {
  readonly page: Page
  readonly complaints: string[] = []
  readonly #context: BrowserContext

  private constructor(context: BrowserContext, page: Page) {
    this.#context = context
    this.page = page
    page.on('pageerror', ({ message }) => this.complaints.push(message))
    // It says so of every answer that is not 2xx, and an order with a wrong address is one.
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
