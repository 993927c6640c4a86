import { safe } from 'busbar/client'
import type { Content } from '../../cart/contract.ts'
import { byId, element, price } from './element.ts'
import { carts } from './services.ts'

const lines = byId('lines', HTMLElement)
const total = byId('total', HTMLElement)
const count = byId('count', HTMLElement)
const order = byId('order', HTMLButtonElement)
const key = 'shop.cart'
/** The items as last shown. */
let counts: ReadonlyMap<number, number> = new Map()

/** The id gives access to the cart, so it is stored in this browser only. */
export function cartId(): string {
  const known = localStorage.getItem(key)
  return known ?? newCart()
}

/** Starts a new cart after an order. */
export function newCart(): string {
  const id = randomId()
  localStorage.setItem(key, id)
  return id
}

export async function showBasket(say: (text: string) => void): Promise<void> {
  const [error, content] = await safe(carts.content({ cart: cartId() }))
  if (error === undefined) show(content, say)
  else say(error.message)
}

/** Changes run in sequence. */
let turn: Promise<unknown> = Promise.resolve()

/** Resolves to true if it succeeded. */
export function change(product: number, by: number, say: (text: string) => void): Promise<boolean> {
  const changing = turn.then(() => changeNow(product, by, say))
  turn = changing
  return changing
}

async function changeNow(product: number, by: number, say: (text: string) => void): Promise<boolean> {
  const cart = cartId()
  const count = Math.min(99, Math.max(0, (counts.get(product) ?? 0) + by))
  const [error, content] = await safe(carts.put({ cart, product, count }))
  if (error === undefined) show(content, say)
  else say(error.code === 'FULL' ? 'The cart is full.' : error.message)
  return error === undefined
}

function show(content: Content, say: (text: string) => void): void {
  counts = new Map(content.lines.map(({ product, count }) => [product, count]))
  const pieces = content.lines.reduce((sum, line) => sum + line.count, 0)
  count.textContent = String(pieces)
  total.textContent = price(content.cents)
  order.disabled = pieces === 0
  lines.replaceChildren(...content.lines.map((line) => rowOf(line, say)))
  if (pieces === 0) lines.append(element('p', { class: 'empty' }, 'Nothing in it yet.'))
}

function rowOf({ product, name, cents, count }: Content['lines'][number], say: (text: string) => void): HTMLElement {
  const step = (sign: string, by: number, label: string): HTMLElement => {
    const button = element('button', { type: 'button', 'aria-label': `${label} ${name}` }, sign)
    button.addEventListener('click', () => void change(product, by, say))
    return button
  }
  return element(
    'li',
    {},
    element('span', { class: 'name' }, name),
    element('span', { class: 'steps' }, step('−', -1, 'Less of'), String(count), step('+', 1, 'More of')),
    element('span', { class: 'sum' }, price(cents * count)),
  )
}

/**
 * `randomUUID` exists in secure contexts only, so not over HTTP under other names than localhost.
 */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  // Version and variant: RFC 9562, 5.4.
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
