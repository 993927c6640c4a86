/** `busbar/client`: calls typed services. Runs in browsers. */
export { client } from './client/client.ts'
export { type Client, type ClientInterceptor, type ClientOptions, type OutgoingCall } from './client/client-types.ts'
export type { Serialiser } from './client/http/http-transport.ts'
export { publisher, type Publisher, type PublisherFunction } from './events/publisher.ts'
export type { Delivery } from './events/topic.ts'
export { safe, type Outcome } from './client/client.ts'
export type { CallOptions, CallPromise, CallStream, ErrorOf } from './call/call-types.ts'
export { BusbarError, type CallError, type ErrorCode, type ErrorData, type InputIssue } from './errors.ts'
