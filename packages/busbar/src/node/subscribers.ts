/**
 * The number of a diagnostics channel's subscribers (lib/diagnostics_channel.js). The documented
 * API tells only whether there are any.
 */
import { channel, type Channel } from 'node:diagnostics_channel'

export function subscribersOf(of: Channel): number {
  return (of as Channel & { _subscribers?: readonly unknown[] })._subscribers?.length ?? 0
}

/** Undefined if they can be counted. */
export function subscribersFault(): unknown {
  const probed = channel('busbar.probe')
  const [one, other] = [(): void => {}, (): void => {}]
  probed.subscribe(one)
  probed.subscribe(other)
  const count = subscribersOf(probed)
  probed.unsubscribe(one)
  probed.unsubscribe(other)
  const left = subscribersOf(probed)
  return count === 2 && left === 0 ? undefined : `a channel with 2 and 0 subscribers shows ${count} and ${left}`
}
