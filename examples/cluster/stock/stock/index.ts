import { stock } from './contract.ts'

const host = process.env['HOST'] ?? 'a host'

export default stock.implement({
  count: async ({ id }) => {
    await new Promise((resolve) => setTimeout(resolve, 2))
    return { left: id * 10, host }
  },
})
