import type { Implementation } from 'busbar/contract'
import { cartOn } from '../../cart/service.ts'
import { catalogOn } from '../../catalog/service.ts'
import { checkoutOn } from '../../checkout/service.ts'
import { stockOn } from '../../stock/service.ts'
import { openMemory } from '../../store/memory.ts'

/** All of the shop without a server: its services as they are, on data that is gone with the page. */
export function shopInThisPage(): readonly Implementation[] {
  const store = openMemory()
  return [catalogOn, stockOn, cartOn, checkoutOn].map((on) => on(() => store) as Implementation)
}
