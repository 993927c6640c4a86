import { fn, service, type } from 'busbar/contract'

export const compute = service('compute', { spin: fn({ input: type<number>(), output: type<string>() }) })
