import { type } from '../../../contract/schema.ts'
import { fn } from '../../../contract/method.ts'
import { service } from '../../../contract/service.ts'

export const typed = service('typed', {
  /** Returns so many characters. */
  get: fn({ input: type<number>(), output: type<string>() }),
  /** The processor time of the callee, in microseconds. `true`: of the whole process. */
  cpu: fn({ input: type<boolean>(), output: type<number>() }),
})
