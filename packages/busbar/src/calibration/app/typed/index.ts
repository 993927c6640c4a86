import { cpuTime, payload } from '../payload.ts'
import { typed } from './contract.ts'

export default typed.implement({
  get: async (bytes) => payload(bytes),
  cpu: async (isProcess) => cpuTime(isProcess),
})
