import { safe, type CallStream } from 'busbar/client'
import type { Listed } from '../../catalog/contract.ts'
import { byId, element, price } from './element.ts'
import { drawingOf } from './pictures.ts'
import { products, stocks } from './services.ts'

const grid = byId('products', HTMLElement)
const title = byId('title', HTMLElement)
const note = byId('note', HTMLElement)

/** Only the result of the last search is shown, and only its stock is watched. */
let asked = 0
let watched: CallStream<unknown, {}> | undefined

/** The result of the search, or featured products without one. */
export async function showProducts(text: string, add: (product: Listed) => Promise<void>): Promise<void> {
  const question = ++asked
  const [error, found] = await safe(text === '' ? products.featured() : products.search({ text }))
  if (question !== asked) return
  title.textContent = text === '' ? 'Featured' : `Found for “${text}”`
  note.textContent = error?.message ?? (found?.length === 0 ? 'Nothing. Try another word.' : '')
  const cards = (found ?? []).map((product) => new Card(product, add))
  grid.replaceChildren(...cards.map(({ element }) => element))
  await watch(cards)
}

/** Shows purchases of other visitors. If the stream fails, the levels stay as they are. */
async function watch(cards: readonly Card[]): Promise<void> {
  await watched?.return?.()
  const byProduct = new Map(cards.map((card) => [card.product, card]))
  const levels = stocks.watch({ products: [...byProduct.keys()] })
  watched = levels
  try {
    for await (const now of levels) for (const { product, left } of now) byProduct.get(product)?.show(left)
  } catch (error) {
    console.warn(error)
  }
}

class Card {
  readonly product: number
  readonly element: HTMLElement
  readonly #left = element('span', { class: 'left' })
  readonly #button = element('button', { type: 'button' }, 'Add')

  constructor(listed: Listed, add: (product: Listed) => Promise<void>) {
    const { id, name, text, cents } = listed
    this.product = id
    this.#button.setAttribute('aria-label', `Add ${name} to the cart`)
    this.#button.addEventListener('click', () => void add(listed))
    this.element = element(
      'article',
      { class: 'card', 'data-product': String(id) },
      element('div', { class: 'picture' }, drawingOf(listed)),
      element('h3', {}, name),
      element('p', {}, text),
      element('footer', {}, element('strong', {}, price(cents)), this.#left, this.#button),
    )
    this.show(listed.left)
  }

  show(left: number): void {
    this.#left.textContent = left === 0 ? 'sold out' : left < 10 ? `${left} left` : ''
    this.#button.disabled = left === 0
  }
}
