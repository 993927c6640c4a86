import { stock } from '../stock/contract.ts'
import { catalog } from './contract.ts'

export default catalog.implement(async ({ client, log, service }) => {
  const stocks = client(stock)
  await stocks.count({ id: 1 })
  log.info(`${service} is made`)
  return {
    product: async ({ id }, { fail }) =>
      id > 99 ? fail('NOT_FOUND', { id }) : { id, stock: await stocks.count({ id }) },
    inherited: () => stocks.context(),
    slow: ({ name }) => stocks.hang(name),
    exits: () => process.exit(7),
    [Symbol.asyncDispose]: async () => log.info('catalog is disposed'),
  }
})
