/** What a link bounds. `docs/reference/protocol.md` has them too, and a test compares. */

/** Calls of one side in flight on one link; more are refused with RESOURCE_EXHAUSTED. */
export const maxCalls = 10_000

/** Characters of one value, and bytes beside it: what is larger comes as a stream. */
export const maxValue = 64 * 1024 * 1024

/** Characters after which what goes out together is sent without waiting for the end of the turn. */
export const fullPacket = 256 * 1024

/** Characters and bytes that may wait for a peer that is behind: new calls are refused then. */
export const maxWaiting = 16 * 1024 * 1024

/**
 * Milliseconds after which a peer that says nothing, not even to a ping, is gone. Longer than the supervisor waits for a
 * worker that is stuck: whatever else is wrong between two processes of one machine is its affair.
 */
export const maxSilence = 45_000

/** Bytes of one packet on a byte link, before and after the hello. */
export const maxPacket = 256 * 1024 * 1024
export const maxHello = 1024

/** Parts of bytes in one packet. */
export const maxParts = 1_048_576

/** Bytes under way to a peer that is not behind: above that it is. */
export const maxUnderWay = 4 * 1024 * 1024

/** Milliseconds in which both sides must have said hello. */
export const helloTime = 5_000

/** Milliseconds in which a worker that will dial must have done so. */
export const dialTime = 30_000

/**
 * Milliseconds in which it is mostly known what has become of a worker to which a link was lost, on a busy machine too: the
 * supervisor sees a death at once, and a pair that has lost its first link gets another after 100 ms.
 */
export const fateTime = 3_000

/** Services of which a peer may report how busy they are. */
export const maxServices = 10_000
