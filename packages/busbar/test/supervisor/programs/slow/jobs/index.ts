import { setTimeout as sleep } from 'node:timers/promises'
import { jobs } from './contract.ts'

export default jobs.implement({ wait: async (milliseconds) => await sleep(milliseconds, 'done') })
