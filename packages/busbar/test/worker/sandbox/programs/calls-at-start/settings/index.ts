import { setTimeout as sleep } from 'node:timers/promises'
import { settings } from './contract.ts'

export default settings.implement({
  read: async () => {
    await sleep(400)
    return 'late settings'
  },
})
