import './policy.ts'
import { safe } from 'busbar/client'
import { cartId, change, newCart, showBasket } from './basket.ts'
import { byId, price } from './element.ts'
import { checkouts, isLocal } from './services.ts'
import { showProducts } from './shelf.ts'

const basket = byId('basket', HTMLDialogElement)
const form = byId('checkout', HTMLFormElement)
const search = byId('search', HTMLInputElement)
const message = byId('message', HTMLElement)
let leaving: number | undefined

byId('mode', HTMLElement).hidden = !isLocal
byId('open', HTMLButtonElement).addEventListener('click', () => basket.showModal())
byId('close', HTMLButtonElement).addEventListener('click', () => basket.close())
basket.addEventListener('click', ({ target }) => target === basket && basket.close())
search.addEventListener('input', () => void show())
form.addEventListener('submit', (event) => {
  event.preventDefault()
  void order()
})

await Promise.all([show(), showBasket(say)])

async function show(): Promise<void> {
  await showProducts(search.value.trim(), async ({ id, name }) => {
    if (await change(id, 1, say)) say(`${name} is in the cart.`)
  })
}

async function order(): Promise<void> {
  const { name, email } = Object.fromEntries(new FormData(form)) as { name: string; email: string }
  const [error, placed] = await safe(checkouts.order({ cart: cartId(), name, email }, { timeout: 10_000 }))
  if (error === undefined) {
    newCart()
    form.reset()
    basket.close()
    say(`Thank you, ${placed.name}: order ${placed.number} for ${price(placed.cents)} is on its way.`)
  } else if (error.code === 'SOLD_OUT') say(`Of ${error.data.name} there are only ${error.data.left} left.`)
  else if (error.code === 'INPUT_INVALID') say(`Please look at your ${error.data.issues[0]?.path[0]} again.`)
  else say(error.code === 'EMPTY' ? 'There is nothing in the cart.' : error.message)
  await showBasket(say)
}

/** Shows a message above everything, also the open cart, long enough to read it. */
function say(text: string): void {
  clearTimeout(leaving)
  message.textContent = text
  message.hidePopover()
  message.showPopover()
  leaving = setTimeout(() => message.hidePopover(), 6000)
}
