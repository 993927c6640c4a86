export { BusbarError, errorTable, type ErrorCode } from './contract/errors.ts'
export type { App } from './config/app.ts'
