import { orders } from '../orders/contract.ts'
import { audit } from './contract.ts'

export default audit.subscribe({ placed: orders.topics.placed }).implement(({ log }) => ({
  placed: async ({ id }) => log.info(`audit ${id}`),
}))
