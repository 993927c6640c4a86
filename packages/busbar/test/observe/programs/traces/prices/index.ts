import { prices } from './contract.ts'

/** A typed service that calls a program. */
export default prices.implement({
  price: async () => await (await fetch('http://back.internal/')).text(),
  slow: () => new Promise((resolve) => setTimeout(resolve, 100, 1)),
})
