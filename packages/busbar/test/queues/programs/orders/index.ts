import { mail } from '../mail/contract.ts'
import { orders } from './contract.ts'

type AnyEnqueue = Record<
  string,
  { enqueue(input: unknown, options: object): Promise<{ id: string; duplicate: boolean }> }
>

export default orders.implement(({ client }) => {
  const post = client(mail)
  return {
    place: async ({ to, id }) => {
      const item = { to, at: new Date(), amount: 7n }
      return await post.send.enqueue(item, { ...(id !== undefined && { id }), metadata: { 'x-reason': 'order' } })
    },
    enqueue: async ({ method, input, id }) =>
      await (post as unknown as AnyEnqueue)[method]!.enqueue(input, id === undefined ? {} : { id }),
  }
})
