/** What a transport is to a link: it carries packets, whole and in their order, until it ends. */

/**
 * Frames that go together: all that were made in one turn of the event loop. A JSON list of frames (`frames.ts`), and
 * beside it the bytes that its tags name. Why JSON: `docs/decisions/links.md`.
 */
export interface Packet {
  readonly text: string
  /** Each with a buffer of its own, which whoever gets the packet owns from then on. */
  readonly bytes: readonly Uint8Array[]
}

export interface Pipe {
  /** Once, before anything else: who hears what comes. What came before it waits. */
  open(listener: PipeListener): void
  /** False: the other end is behind. Nothing is lost; `onDrain` says when to go on. */
  send(packet: Packet): boolean
  /** What was sent before still goes out, where the other end takes it. `onClose` follows. */
  close(): void
}

export interface PipeListener {
  onPacket(packet: Packet): void
  onDrain(): void
  /**
   * Once. `reason`: what is wrong with the other end, in a sentence without a subject; undefined where it closed in order. No
   * pipe can tell a worker that is gone from one that is cut off.
   */
  onClose(reason: string | undefined): void
}

/** The pipe has ended, and nobody has said why. */
export const goneSilent = 'is gone without a word, or cut off'

/** What a peer sent that no peer may send: the link ends. Its message is a sentence without a subject. */
export class ProtocolError extends Error {}
