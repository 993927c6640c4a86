import { fn, service, type } from 'busbar/contract'

export const settings = service('settings', { read: fn({ output: type<string>() }) })
