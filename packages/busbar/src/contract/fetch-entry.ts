/**
 * `busbar/fetch`: serves a typed service wherever a `Request` becomes a `Response`. Runs in
 * browsers, service workers and edge runtimes.
 */
export { fetchHandler, type FetchHandler, type FetchHandlerOptions } from './http/fetch-handler.ts'
