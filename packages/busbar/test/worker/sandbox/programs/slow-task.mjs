import { setTimeout as sleep } from 'node:timers/promises'

export default (milliseconds) => sleep(milliseconds)
