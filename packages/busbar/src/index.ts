export { BusbarError, errorTable, type ErrorCode } from './contract/errors.ts'
export { defineApp, type ConfigContext, type ConfigFunction } from './config/define.ts'
export type { AppConfig } from './config/schema/app-schema.ts'
export type { App } from './config/app.ts'
export { startApp } from './embed/start-app.ts'
export type {
  AppClient,
  AppClientOptions,
  EmbeddedApp,
  EndReason,
  FetchHandler,
  LogLine,
  Replacement,
  RequestHandler,
  StartAppOptions,
} from './embed/embedded-app.ts'
export type { AppStatus } from './observe/app-status.ts'
export { ready } from './ready.ts'
export { shared } from './state/shared.ts'
export type { Atomic } from './state/atomic.ts'
export type { Counter } from './state/counter.ts'
export type { Held, Mutex, WaitOptions } from './state/mutex.ts'
export {
  createOffload,
  offload,
  type Offload,
  type OffloadOptions,
  type OffloadPool,
  type OffloadPoolOptions,
} from './offload/offload.ts'
export type { TaskContext } from './offload/thread/running-task.ts'
