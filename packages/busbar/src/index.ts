export { BusbarError, errorTable, type ErrorCode } from './contract/errors.ts'
export { defineApp, type ConfigContext, type ConfigFunction } from './config/define.ts'
export type { AppConfig } from './config/schema.ts'
export type { App } from './config/app.ts'
