import { client } from 'busbar/client'
import { cart } from '../../cart/contract.ts'
import { catalog } from '../../catalog/contract.ts'
import { checkout } from '../../checkout/contract.ts'
import { stock } from '../../stock/contract.ts'
import { shopInThisPage } from './local.ts'

export const isLocal = new URLSearchParams(location.search).has('local')

/** Clients of the server's services, or with `?local` of the same services in this page. */
const target = isLocal ? shopInThisPage() : '/api'

export const products = client(catalog, target)
export const stocks = client(stock, target)
export const carts = client(cart, target)
export const checkouts = client(checkout, target)
