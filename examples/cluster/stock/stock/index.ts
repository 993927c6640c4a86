import { hostname } from 'node:os'
import { stock } from './contract.ts'

/** Each container has a host name of its own. */
const host = process.env['HOST'] ?? hostname()

export default stock.implement({
  count: async ({ id }) => {
    await new Promise((resolve) => setTimeout(resolve, 2))
    return { left: id * 10, host }
  },
})
