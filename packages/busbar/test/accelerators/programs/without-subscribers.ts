/** A worker in a Node whose diagnostics channels do not expose their subscribers. */
import { Channel } from 'node:diagnostics_channel'
import { hide } from './hide.ts'

const { subscribe } = Channel.prototype

Channel.prototype.subscribe = function (listener): void {
  subscribe.call(this, listener)
  hide(this, '_subscribers')
}

await import('../../../src/worker/main.ts')
