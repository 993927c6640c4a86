/** How much of a message a program and its client may be apart. */

/**
 * What a program may write ahead of its client; Rust tells of the progress in steps of a quarter of
 * it.
 */
export const window = 256 * 1024
/** Of a stream of HTTP/2: a client has many on one connection, and may read none of them. */
export const http2Window = 128 * 1024
/**
 * Up to this, several pieces are copied into one. A longer text is encoded once, for all its parts.
 */
export const copied = 64 * 1024
/** Rust learns of a body's consumed bytes in steps of this, a quarter of what it sends ahead. */
export const creditStep = 64 * 1024
/**
 * Of a stream of HTTP/2. All streams of a connection share a window of 1 MiB, and what a step
 * leaves out stays in it: with larger steps, streams that last would fill it, and no other could
 * send.
 */
export const http2CreditStep = 4 * 1024
