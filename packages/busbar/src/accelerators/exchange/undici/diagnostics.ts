import { channel, type Channel } from 'node:diagnostics_channel'

/**
 * What undici publishes of each request, and tracing builds on: it may also add headers then. An exchange has no
 * undici request to publish, so that a thread where somebody listens calls by byte stream.
 */
const channels = [
  'undici:request:headers',
  'undici:request:trailers',
  'undici:request:error',
  'undici:request:bodySent',
  'undici:request:bodyChunkSent',
  'undici:request:bodyChunkReceived',
  'undici:client:sendHeaders',
].map((name) => channel(name))

/** Here the mesh itself listens, for the byte streams' sake. Node keeps the listeners in this list. */
const created = channel('undici:request:create') as Channel & { readonly _subscribers?: readonly unknown[] }
const ourOwn = 1

export const diagnostics = {
  observed(): boolean {
    for (const one of channels) if (one.hasSubscribers) return true
    return (created._subscribers?.length ?? 0) > ourOwn
  },
}
