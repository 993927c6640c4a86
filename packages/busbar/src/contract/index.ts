/** `busbar/contract`: defines contracts and implements them. Runs in browsers. */
export { service, type Service, type ServiceOptions } from './service.ts'
export { error, fn, stream, type ErrorSpec, type Method, type Methods, type TypesFrom } from './method.ts'
export { many, type Many } from './many.ts'
export { topic, type Delivery, type Topic, type Topics } from './events/topic.ts'
export type { Publisher, PublisherFunction } from './events/publisher.ts'
export type { SubscriptionOptions, Subscriptions } from './events/subscription.ts'
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
export type { Context, Log, Metadata, QueueDelivery, Trace } from './context.ts'
export type { Enqueued, EnqueueOptions } from './queues/enqueue.ts'
export type { Implementation, Setup } from './implementation.ts'
export type { InContext, Intercepted, Interceptor, Next } from './host/interceptors.ts'
export type { PlainImplementation } from './plain-service.ts'
export type { PlainClient, PlainContract } from './plain-contract.ts'
