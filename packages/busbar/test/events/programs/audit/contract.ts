import { service } from 'busbar/contract'

export const audit = service('audit', {})
