import { state } from './state.ts'

export const late = { count: 0, state }
