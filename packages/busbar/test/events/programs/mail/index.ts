import { setTimeout as sleep } from 'node:timers/promises'
import { orders } from '../orders/contract.ts'
import { mail } from './contract.ts'

const instance = Math.random().toString(36).slice(2)
const { placed, billed, failing, opened } = orders.topics
const open = Promise.withResolvers<void>()

export default mail
  .subscribe({ welcome: placed, fails: failing, opens: opened, bills: { topic: billed, concurrency: 1, queue: 2 } })
  .implement(({ log }) => ({
    who: async () => instance,
    opens: async () => open.resolve(),
    welcome: async ({ id, at, amount, data }, { caller, service, method }) => {
      await sleep(2)
      log.info(`welcome ${id} ${JSON.stringify([at, amount, [...data], caller, service, method])} by ${instance}`)
    },
    fails: async ({ id }) => {
      throw new Error(`no mail to ${id}`)
    },
    bills: async ({ id }) => {
      await open.promise
      log.info(`bill ${id} by ${instance}`)
    },
    [Symbol.asyncDispose]: async () => log.info('mail is disposed'),
  }))
