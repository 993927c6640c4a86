/** The computation as a typed service, whose config gives it threads of its own. */
import { fn, service, type } from 'busbar/contract'

export const computing = service('computing', {
  fibonacci: fn({ input: type<number>(), output: type<number>() }),
})
