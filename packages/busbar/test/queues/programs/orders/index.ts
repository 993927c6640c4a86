import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { mail } from '../mail/contract.ts'
import { orders } from './contract.ts'

type AnyEnqueue = Record<
  string,
  { enqueue(input: unknown, options: object): Promise<{ id: string; duplicate: boolean }> }
>

export default orders.implement(({ client, log }) => {
  const post = client(mail)
  return {
    place: async ({ to, id }) => {
      const item = { to, at: new Date(), amount: 7n }
      return await post.send.enqueue(item, { ...(id !== undefined && { id }), metadata: { 'x-reason': 'order' } })
    },
    placeLater: async ({ to, file }) => {
      log.info(`${to} is to be placed later`)
      while (!existsSync(file)) await sleep(10)
      return await post.send.enqueue({ to })
    },
    enqueue: async ({ method, input, id }) =>
      await (post as unknown as AnyEnqueue)[method]!.enqueue(input, id === undefined ? {} : { id }),
  }
})
