import { fn, service, type } from 'busbar/contract'

export const jobs = service('jobs', { wait: fn({ input: type<number>(), output: type<string>() }) })
