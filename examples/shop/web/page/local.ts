import type { Implementation } from 'busbar/contract'
import { cartOn } from '../../cart/service.ts'
import { catalogOn } from '../../catalog/service.ts'
import { checkoutOn } from '../../checkout/service.ts'
import { stockOn } from '../../stock/service.ts'
import { openMemory } from '../../store/memory.ts'

/** The shop without a server: the same services, with data that is lost with the page. */
export function shopInThisPage(): readonly Implementation[] {
  const store = openMemory()
  return [catalogOn, stockOn, cartOn, checkoutOn].map((on) => on(() => store) as Implementation)
}
