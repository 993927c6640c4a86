/** Milliseconds after which a message whose host says nothing goes to another one. */
export const ackWait = 10_000
/** Milliseconds that must be left of that when a host relies on having a message. */
const leastHold = 2_000
/** Milliseconds: the most that a consumer gets because its messages come over a slow network. */
export const longestWait = 300_000

/**
 * Whether the server has certainly given a message to no other host, if it has had a sign of life
 * for it after `heldAt` (`performance.now()`), and waits `wait` milliseconds for the next one. The
 * server takes an `ack` or a `nak` of every host that has ever had the message, and a host that is
 * late would bring a completed item back.
 */
export function isHeld(heldAt: number, wait = ackWait): boolean {
  return performance.now() - heldAt < wait - leastHold
}

/** Milliseconds that the messages of a consumer should have, if one took `age`. */
export function waitFor(age: number): number {
  // Many may be on their way, and those that came too late are sent again.
  return Math.min(longestWait, Math.ceil((10 * age) / 1_000) * 1_000)
}

export function nanos(milliseconds: number): number {
  return milliseconds * 1e6
}
