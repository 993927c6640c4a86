import { channel } from 'node:diagnostics_channel'
import { subscribersOf } from '../../../node/subscribers.ts'

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

/** Here the mesh itself listens, for the byte streams' sake. */
const created = channel('undici:request:create')
const ourOwn = 1

export const diagnostics = {
  observed(): boolean {
    for (const one of channels) if (one.hasSubscribers) return true
    return subscribersOf(created) > ourOwn
  },
}
