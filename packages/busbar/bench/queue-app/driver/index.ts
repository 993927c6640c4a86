import { jobs } from '../jobs/contract.ts'
import { driver } from './contract.ts'

export default driver.implement(({ client }) => {
  const service = client(jobs)
  return {
    run: async ({ how, count, lanes }) => {
      const began = performance.now()
      let next = 0
      const lane = async (): Promise<void> => {
        while (next < count) {
          const order = { id: next++, email: 'ada@example.com', items: ['a', 'b', 'c'] }
          if (how === 'call') await service.run(order)
          else await service.run.enqueue(order)
        }
      }
      await Promise.all(Array.from({ length: lanes }, lane))
      const answered = performance.now() - began
      await service.ran(count)
      return { answered, ran: performance.now() - began }
    },
  }
})
