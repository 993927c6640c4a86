/** The limits of a link. A test compares them with `docs/reference/protocol.md`. */

/** Calls of one side in flight on one link. More are refused with RESOURCE_EXHAUSTED. */
export const maxCalls = 10_000

/** The same between two apps: one that calls too often must not use up the limits of a service. */
export const maxHostCalls = 2_000

/**
 * Of all links of one other app to all worker threads of a process. They are fewer than the default
 * of `limits.maxInFlight`, so that others can call the service as well.
 */
export const maxAppCalls = 4_000

/**
 * Bytes, about, that the inputs of these calls take: further calls are refused. At twice as much,
 * calls whose data arrives fail.
 */
export const maxAppInputs = 256 * 1024 * 1024

/** The size of one value: characters, and bytes beside it. Larger ones must be streamed. */
export const maxValue = 64 * 1024 * 1024

/**
 * Values in one value that is sent to another app: elements of lists, fields of objects, and so on
 * at all levels. As many short texts take 0.8 s to parse, and nothing else is done meanwhile.
 */
export const maxElements = 2 * 1024 * 1024

/**
 * Names of fields of such a value. A name counts once for each different sequence of names before
 * it in its object, since each takes 1 to 3 µs.
 */
export const maxNames = 256 * 1024

/**
 * Names of fields of such a value that begin with a dollar sign, as those of tags do: dates,
 * bigints, and so on. To decode such a value and to send it on takes 2 µs.
 */
export const maxTags = 256 * 1024

/** Byte strings of such a value. Each has a buffer of its own, and takes 3 µs and 200 bytes. */
export const maxByteStrings = 64 * 1024

/** Digits of all bigints of such a value. A bigint of 10,000 digits takes 1 ms. */
export const maxDigits = 4 * 1024 * 1024

/**
 * Leaves of one frame of values of one shape. A leaf of two characters may stand for 16 objects, so
 * without a limit a packet could take hundreds of times its size.
 */
export const maxLeaves = 65_536

/**
 * Leaves of such a frame, times the characters of all names of the shape. An object has its names
 * again when it is sent on: a frame with one long name could take thousands of times its size then.
 */
export const maxNamed = 16 * 1024 * 1024

/** Characters and bytes after which a packet is sent without waiting for the end of the turn. */
export const packetSize = 256 * 1024

/**
 * Milliseconds after which the same happens in a turn whose frames come in several ticks. Each
 * packet costs both ends up to 0.1 ms, and in a long turn the peer works on the first one
 * meanwhile.
 */
export const packetTime = 0.5

/** Frames, and calls and replies in them, after which the same happens. */
export const packetFrames = 8_192

/**
 * The most that a packet of another app may have: all are worked on before anything else. A refused
 * call takes 15 µs.
 */
export const maxFrames = 16_384

/**
 * Characters and bytes that may be queued for a slow peer. Above this its calls wait, un-begun, and
 * calls to it are refused.
 */
export const maxQueued = 16 * 1024 * 1024

/**
 * Characters and bytes that may be queued in all, calls in flight included: a piece of a body for
 * each of `maxHostCalls`. Above this a value fails its call.
 */
export const maxUnread = 128 * 1024 * 1024

/** The same for all links of one other app to all worker threads of a process. */
export const maxAppUnread = 256 * 1024 * 1024

/**
 * Characters and bytes above which the link ends: as many as with one more value of `maxValue`, and
 * `maxQueued` of errors.
 */
export const hopelessUnread = 208 * 1024 * 1024

/** The same for all links of one other app: the link ends on which more is queued. */
export const hopelessAppUnread = 336 * 1024 * 1024

/**
 * Milliseconds after which a silent peer, which does not even answer a ping, counts as gone. It is
 * longer than the supervisor waits for a blocked worker: the supervisor handles other faults
 * between processes of one machine.
 */
export const keepAliveTimeout = 45_000

/** The same between two apps, whose faults nobody else handles. */
export const hostKeepAlive = 15_000

/** Bytes of one packet on a socket, after the hello. */
export const maxPacket = 256 * 1024 * 1024

/** Bytes of the hello. */
export const maxHello = 1024

/** Byte parts of one packet. */
export const maxParts = 1_048_576

/** Unacknowledged bytes. Above this the sender must wait. */
export const maxInTransit = 4 * 1024 * 1024

/**
 * The same over NATS. The server buffers them for a receiver that is slow, and cuts its connection
 * above 64 MiB, for all links together.
 */
export const clusterWindow = 2 * 1024 * 1024

/**
 * Milliseconds within which both sides must have sent hello. Two workers of one app have
 * `keepAliveTimeout`, since each may be loading its program.
 */
export const helloTimeout = 5_000

/** Milliseconds within which a worker that is to dial must have dialled. */
export const dialTimeout = 30_000

/**
 * Milliseconds within which it should be known whether the worker of a lost link has died, on a
 * busy machine too. The supervisor sees a death at once, and links two workers again 100 ms after
 * their first link is lost.
 */
export const lostCallTimeout = 3_000

/** Services whose load a peer may report. */
export const maxServices = 10_000
