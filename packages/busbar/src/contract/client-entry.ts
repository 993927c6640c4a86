/** `busbar/client`: what contracts are called with. Runs in browsers. */
export { client, type Client, type ClientInterceptor, type ClientOptions, type OutgoingCall } from './client.ts'
export type { Serialiser } from './http/client.ts'
export { safe, type Outcome } from './safe.ts'
export type { CallOptions, CallPromise, CallStream, ErrorOf } from './calls.ts'
export { BusbarError, type CallError, type ErrorCode, type ErrorData, type InputIssue } from './errors.ts'
