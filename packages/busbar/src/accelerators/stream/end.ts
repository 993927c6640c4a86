/**
 * One end of a connection, whose bytes come from and go to the socket at the other end.
 *
 *     socket A ─ write ─→ inbox of B ─ one turn of the event loop later ─→ push ─→ socket B
 *
 * Where B is in another worker, a {@link FarEnd} stands in its place: its inbox is the link.
 *
 * As with a kernel's buffers, a write is done once its bytes wait on the other side, unless too many wait there already.
 * Bytes are copied: a receiver may change what it was given (`ws` unmasks in place), a sender may send it again.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { runGuarded } from '../../mesh/run-guarded.ts'
import { closedBeforeConnection, socketError } from './errors.ts'
import type { TcpAddress } from '../../mesh/sockets/tcp-address.ts'
import type { Carrier, Done, MemorySocket } from './memory-socket.ts'

/** The largest piece that is pushed at once, as the largest read of Node's own sockets. */
export const pieceSize = 64 * 1024

/**
 * Bytes that may wait in one direction before a write is held. A program may answer without reading the request, and a
 * caller may send all of it before it looks at the answer: with a kernel between them both go on as long as its buffers
 * last (Linux gives a TCP connection on the loopback interface some MiB), and so they must here.
 */
const capacity = 1024 * 1024

export interface EndOptions {
  readonly local: TcpAddress
  readonly remote: TcpAddress
  /** Runs what happens to this end, in the async context of whoever owns it. */
  readonly enter: Enter
  /** Called once, when the first bytes have come: whoever takes this end. */
  readonly onFirstBytes?: () => void
}

/** What an end knows of the other one. */
export interface OtherEnd {
  /** Its socket was destroyed: nobody reads there any more. */
  readonly gone: boolean
  /** False: it is time to wait for {@link End.makeRoom}. */
  readonly hasRoom: boolean
  /** True: there is room for more. `owned`: nobody else changes these bytes. */
  receive(chunk: Buffer, owned: boolean): boolean
  /** Nothing more is sent to it. `reset`: and its reader shall know that something was lost. */
  finishWith(how: 'end' | 'reset'): void
  /** Something of what it sent was taken. */
  makeRoom(): void
}

export type Enter = (run: () => void) => void

/** The async context of now, for {@link EndOptions.enter}. */
export function currentContext(): Enter {
  return AsyncLocalStorage.snapshot()
}

export class End implements Carrier, OtherEnd {
  readonly socket: MemorySocket
  readonly local: TcpAddress
  readonly remote: TcpAddress
  bytesRead = 0
  bytesWritten = 0

  readonly #enter: Enter
  #peer: OtherEnd | undefined
  #onFirstBytes: (() => void) | undefined
  #scheduled = false
  #reading = false
  readonly #inbox: Buffer[] = []
  #waiting = 0
  /** The last piece in the inbox still belongs to the peer's writer, whose write is not done before it was copied. */
  #borrowed = false
  /** What follows the inbox. */
  #finish: 'open' | 'end' | 'reset' | 'told' = 'open'
  gone = false
  /**
   * The peer was found gone when all it had sent was delivered. What is written before that vanishes without an error, as
   * on TCP: who still writes may first read the answer that the peer left behind.
   */
  #missed = false
  /** Our write that is not done: the peer has no room, or we are not connected yet. */
  #held: { done: Done; start: (() => void) | undefined } | undefined

  /** `socket` has no handle: it is new, or about to connect. */
  constructor(socket: MemorySocket, options: EndOptions) {
    this.socket = socket
    this.local = options.local
    this.remote = options.remote
    this.#enter = options.enter
    this.#onFirstBytes = options.onFirstBytes
    socket.carry(this)
  }

  /** Connects two ends; each begins to read when its socket does. */
  static join(a: End, b: End): void {
    a.#peer = b
    b.#peer = a
    a.#joined()
    b.#joined()
  }

  /** Connects this end to one in another worker. */
  joinTo(other: OtherEnd): void {
    this.#peer = other
    this.#joined()
  }

  read(): void {
    this.#reading = true
    if (this.#inbox.length > 0 || this.#finish === 'end' || this.#finish === 'reset') this.#schedule()
  }

  write(chunk: Buffer, owned: boolean, done: Done): void {
    this.bytesWritten += chunk.length
    this.socket.touch()
    if (this.#peer === undefined) this.#held = { done, start: () => this.#send(chunk, owned, done) }
    else this.#send(chunk, owned, done)
  }

  end(): void {
    if (this.#peer !== undefined) this.#peer.finishWith('end')
  }

  reset(): void {
    if (this.#peer !== undefined) this.#peer.finishWith('reset')
  }

  /** As a kernel does: bytes that nobody will read any more make it a reset. */
  destroy(): void {
    if (this.gone) return
    this.gone = true
    const held = this.#held
    this.#held = undefined
    if (this.#peer !== undefined) this.#peer.finishWith(this.#waiting > 0 ? 'reset' : 'end')
    this.#inbox.length = 0
    this.#waiting = 0
    if (held === undefined) return
    // Behind 'error', which says why, as Node does it.
    if (held.start === undefined) held.done()
    else this.socket.once('close', () => held.done(closedBeforeConnection()))
  }

  #send(chunk: Buffer, owned: boolean, done: Done): void {
    const peer = this.#peer!
    this.#held = undefined
    if (peer.gone && this.#missed) done(socketError('write', 'EPIPE'))
    // In a turn of its own: a program that writes for as long as there is room would never come to hear of the end.
    else if (peer.gone) setImmediate(done)
    else if (peer.receive(chunk, owned)) done()
    else this.#held = { done, start: undefined }
  }

  receive(chunk: Buffer, owned: boolean): boolean {
    const fits = owned || chunk.length <= pieceSize
    this.#inbox.push(owned || !fits ? chunk : Buffer.from(chunk))
    this.#borrowed = !fits
    this.#waiting += chunk.length
    this.#schedule()
    return this.hasRoom
  }

  /** The other side's socket was destroyed. */
  get isLeft(): boolean {
    return this.#peer?.gone === true
  }

  /** Bytes that this end's socket has not taken. */
  get waiting(): number {
    return this.#waiting
  }

  get hasRoom(): boolean {
    return !this.#borrowed && this.#waiting < capacity
  }

  finishWith(how: 'end' | 'reset'): void {
    if (this.gone) return
    if (this.#finish === 'open' || (this.#finish === 'end' && how === 'reset')) this.#finish = how
    this.#schedule()
  }

  #joined(): void {
    this.#held?.start?.()
    if (this.#inbox.length > 0 || this.#finish !== 'open') this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(turn, this)
  }

  /** Only for the event loop. */
  turn(): void {
    this.#scheduled = false
    if (!this.gone) this.#enter(() => runGuarded(() => this.#run()))
  }

  #run(): void {
    let whole = false
    try {
      this.#step()
      whole = true
    } finally {
      // A listener that throws must not keep what comes behind from coming.
      if (!whole || this.#hasNext()) this.#schedule()
    }
  }

  /**
   * One event a turn, as from a kernel: the ticks that it causes run before the next, and two busy ends leave room for
   * the rest of the thread.
   */
  #step(): void {
    if (this.#begin()) return
    const piece = this.#reading ? this.#take() : undefined
    if (piece !== undefined) this.#deliver(piece)
    if (this.gone) return
    if (this.#peer !== undefined) this.#peer.makeRoom()
    if (piece === undefined && this.#finish !== 'open') this.#noticeFinish()
  }

  #hasNext(): boolean {
    const told = this.#finish === 'open' || this.#finish === 'told'
    return this.#reading && !this.gone && (this.#inbox.length > 0 || !told)
  }

  #begin(): boolean {
    const begin = this.#onFirstBytes
    if (begin === undefined || this.#waiting === 0) return false
    this.#onFirstBytes = undefined
    begin()
    return true
  }

  #deliver(piece: Buffer): void {
    this.bytesRead += piece.length
    this.socket.touch()
    if (!this.socket.push(piece)) this.#reading = false
  }

  /** What one read of a kernel would give: all that waits, up to a size. */
  #take(): Buffer | undefined {
    const first = this.#inbox[0]
    if (first === undefined) return undefined
    const piece = first.length > pieceSize ? this.#takePart(first) : this.#takeWhole()
    this.#waiting -= piece.length
    return piece
  }

  #takePart(first: Buffer): Buffer {
    const piece = first.subarray(0, pieceSize)
    this.#inbox[0] = first.subarray(pieceSize)
    return this.#borrowed && this.#inbox.length === 1 ? Buffer.from(piece) : piece
  }

  #takeWhole(): Buffer {
    let size = 0
    const count = this.#inbox.findIndex((piece) => (size += piece.length) > pieceSize)
    const pieces = this.#inbox.splice(0, count === -1 ? this.#inbox.length : count)
    const borrowed = this.#borrowed && this.#inbox.length === 0
    if (borrowed) this.#borrowed = false
    return pieces.length === 1 && !borrowed ? pieces[0]! : Buffer.concat(pieces)
  }

  makeRoom(): void {
    const held = this.#held
    if (held === undefined || !this.#peer!.hasRoom) return
    this.#held = undefined
    this.#enter(() =>
      runGuarded(() => {
        this.socket.touch()
        held.done()
      }),
    )
  }

  #noticeFinish(): void {
    this.#missPeer()
    if (this.#finish === 'told' || !this.#reading) return
    const how = this.#finish
    this.#finish = 'told'
    if (how === 'reset') this.socket.destroy(socketError('read', 'ECONNRESET'))
    else endReading(this.socket)
  }

  #missPeer(): void {
    this.#missed = this.#peer!.gone
    const held = this.#held
    if (held === undefined || !this.#missed) return
    this.#held = undefined
    held.done(socketError('write', 'ECONNRESET'))
  }
}

/** `read(0)` lets `'end'` come where nobody reads and nothing waits, as Node's own sockets do. */
function endReading(socket: MemorySocket): void {
  socket.push(null)
  socket.read(0)
}

function turn(end: End): void {
  end.turn()
}
