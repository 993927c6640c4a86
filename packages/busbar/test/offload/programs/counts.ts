import { shared } from '../../../src/state/shared.ts'

export default (by: number): void => shared.counter('counted').add(by)
