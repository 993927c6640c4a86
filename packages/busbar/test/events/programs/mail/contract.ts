import { fn, service, type } from 'busbar/contract'

export const mail = service('mail', { who: fn({ output: type<string>() }) })
