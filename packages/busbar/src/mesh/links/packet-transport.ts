/** The interface between a link and its transport, which carries whole packets in order. */

/**
 * All frames of one turn of the event loop: a JSON list of frames (`frame-encoder.ts`), and the
 * byte parts that its tags refer to. For the reasons for JSON see `docs/decisions/call/links.md`.
 */
export interface Packet {
  readonly text: string
  /** Each part has its own buffer. The receiver owns it, and takes it out when it is decoded. */
  readonly bytes: readonly Uint8Array[]
}

export interface PacketTransport {
  /** Call it once, first. Packets that have already arrived are delivered then. */
  open(listener: PacketTransportListener): void
  /** Returns false if the peer is slow: wait for `onDrain`. The packet is sent in any case. */
  send(packet: Packet): boolean
  /** Still sends what was sent before, if the peer reads it. `onClose` follows. */
  close(): void
}

export interface PacketTransportListener {
  onPacket(packet: Packet): void
  /** The peer has sent a part of a packet, or has read a part of one. */
  onPart(): void
  onDrain(): void
  /**
   * Called once. `reason`: a predicate that describes the fault, such as `is not reachable`;
   * undefined for an orderly close. No transport can tell a worker that has died from one that is
   * cut off.
   */
  onClose(reason: string | undefined): void
}

/** The transport has closed without a reason. */
export const closedUnexpectedly = 'has closed the connection unexpectedly, or is cut off'

/** The peer has violated the protocol, which closes the link. The message is a predicate. */
export class ProtocolError extends Error {}
