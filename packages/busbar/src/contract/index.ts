/** `busbar/contract`: what contracts and implementations are written with. Runs in browsers. */
export { service, type Service, type ServiceOptions } from './service.ts'
export { error, fn, stream, type ErrorSpec, type Method, type Methods, type TypesFrom } from './method.ts'
export { type, type Schema } from './schema.ts'
export {
  BusbarError,
  type CallError,
  type DeclaredErrors,
  type ErrorCode,
  type ErrorData,
  type InputIssue,
} from './errors.ts'
export type { Contract } from './contract.ts'
export type { Context, Log, Metadata, Trace } from './context.ts'
export type { Implementation, Setup } from './implementation.ts'
export type { InContext, Intercepted, Interceptor, Next } from './host/interceptors.ts'
export type { PlainClient, PlainContract, PlainImplementation } from './plain.ts'
