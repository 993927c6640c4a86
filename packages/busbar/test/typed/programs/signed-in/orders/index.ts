import { committed, type InApp } from '../interceptors.ts'
import { ledger } from '../ledger/contract.ts'
import { orders } from './contract.ts'

export default orders.expects<InApp>().implement(({ client }) => {
  const books = client(ledger)
  return {
    place: async ({ item }, { user, transaction, fail }) => {
      transaction.write(`${user?.name} wants ${item}`)
      if (item === 'moon') fail('SOLD_OUT', {})
      return await books.entry({ text: item })
    },
    committed: () => committed,
    async *watch(_, { user }) {
      yield `hello ${user?.name}`
    },
  }
})
