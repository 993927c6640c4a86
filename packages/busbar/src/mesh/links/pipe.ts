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

/** Whether the worker is gone, or only what was between. Default: LINK_LOST. */
export type EndCode = 'WORKER_DIED' | 'LINK_LOST'

export interface PipeListener {
  onPacket(packet: Packet): void
  onDrain(): void
  /** Once. `reason`: what the other end did, in a sentence without a subject; undefined where it closed in order. */
  onClose(reason: string | undefined, code?: EndCode): void
}

/** What a peer sent that no peer may send: the link ends. Its message is a sentence without a subject. */
export class ProtocolError extends Error {}
