/**
 * One end of a connection. Its bytes come from the socket at the other end.
 *
 *     socket A ─ write ─→ inbox of B ─ one turn of the event loop later ─→ push ─→ socket B
 *
 * If B is in another worker, a {@link LinkEnd} replaces it: its inbox is the link.
 *
 * As with a kernel, a write is complete when its bytes wait at the other end, if there is room.
 */
import { runGuarded } from '../../mesh/scope.ts'
import type { TcpAddress } from '../../mesh/sockets/tcp-address.ts'
import { systemError } from '../../mesh/sockets/system-error.ts'
import { currentContext, type Enter } from './async-context.ts'
import { IdleClose, leaveAgent } from './idle-close.ts'
import { Inbox } from './inbox.ts'
import { type Carrier, closedBeforeConnection, type Done, type MemorySocket } from './memory-socket.ts'

export interface EndOptions {
  readonly local: TcpAddress
  readonly remote: TcpAddress
  /** Runs this end's events in the async context of its owner. */
  readonly enter: Enter
  /** Called once, when the first bytes have arrived, to pass this end to its owner. */
  readonly onFirstBytes?: () => void
}

/** What an end knows of the other end. */
export interface OppositeEnd {
  /** Its socket was destroyed, so it reads no more. */
  readonly gone: boolean
  /** False if the sender must wait for {@link ConnectionEnd.makeRoom}. */
  readonly hasRoom: boolean
  /** Returns true if there is room for more. `owned`: nothing else can change these bytes. */
  receive(chunk: Buffer, owned: boolean): boolean
  /** Nothing more will be sent. `reset`: data was lost, and the reader's next read fails. */
  finishWith(how: 'end' | 'reset'): void
  /** Some of the bytes that it has sent were read. */
  makeRoom(): void
  /** Ends the connection, unless it has sent more than `received` bytes. */
  closeIfSent(received: number): void
}

export class ConnectionEnd implements Carrier, OppositeEnd {
  readonly socket: MemorySocket
  readonly local: TcpAddress
  readonly remote: TcpAddress
  bytesRead = 0
  bytesWritten = 0

  #enter: Enter
  #opposite: OppositeEnd | undefined
  #onFirstBytes: (() => void) | undefined
  #isScheduled = false
  #isReading = false
  /** Bytes were delivered since the last write. So the connection of an HTTP server is not idle. */
  #owesAnswer = false
  readonly #inbox = new Inbox()
  readonly #idleClose = new IdleClose()
  /** What follows the bytes in the inbox. `delivered`: the socket knows it. */
  #finish: 'open' | 'end' | 'reset' | 'delivered' = 'open'
  gone = false
  /**
   * All that the opposite end sent was delivered, and it is gone. As with TCP, writes before that
   * vanish without an error: the writer may first read the response that was left for it.
   */
  #sawOppositeGone = false
  /**
   * A write that is not complete: the opposite end has no room, or the socket is not connected yet.
   * A client's `'connect'` comes before the end of its first write, as in Node.
   */
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

  /** Connects two ends. Each begins to read when its socket does. */
  static join(a: ConnectionEnd, b: ConnectionEnd): void {
    a.#opposite = b
    b.#opposite = a
    a.#joined()
    b.#joined()
  }

  /** Connects this end to one in another worker. */
  joinTo(opposite: OppositeEnd): void {
    this.#opposite = opposite
    this.#joined()
  }

  read(): void {
    this.#isReading = true
    if (!this.#inbox.isEmpty || this.#finish === 'end' || this.#finish === 'reset') this.#schedule()
  }

  write(chunk: Buffer, owned: boolean, done: Done): void {
    this.bytesWritten += chunk.length
    this.#owesAnswer = false
    if (this.socket.takeReuse()) this.#enter = currentContext()
    this.socket.touch()
    if (this.#opposite === undefined) this.#held = { done, start: () => this.#send(chunk, owned, done) }
    else this.#send(chunk, owned, done)
  }

  end(): void {
    if (this.#opposite !== undefined) this.#opposite.finishWith('end')
  }

  reset(): void {
    if (this.#opposite !== undefined) this.#opposite.finishWith('reset')
  }

  /** Like a kernel, sends a reset if there are unread bytes. */
  destroy(): void {
    if (this.gone) return
    this.gone = true
    this.#idleClose.stop()
    const held = this.#held
    this.#held = undefined
    if (this.#opposite !== undefined) this.#opposite.finishWith(this.#inbox.size > 0 ? 'reset' : 'end')
    this.#inbox.clear()
    if (held === undefined) return
    // After 'error', which has the reason, as in Node.
    if (!this.socket.connecting) held.done()
    else this.socket.once('close', () => held.done(closedBeforeConnection()))
  }

  #send(chunk: Buffer, owned: boolean, done: Done): void {
    const opposite = this.#opposite!
    this.#held = undefined
    if (opposite.gone && this.#sawOppositeGone) done(systemError('write', 'EPIPE'))
    // In a turn of its own: a program that writes while there is room would never see the end.
    else if (opposite.gone) setImmediate(done)
    else if (opposite.receive(chunk, owned) && !this.socket.connecting) done()
    else this.#held = { done, start: undefined }
  }

  receive(chunk: Buffer, owned: boolean): boolean {
    this.#idleClose.stop()
    this.#inbox.add(chunk, owned)
    this.#schedule()
    return this.hasRoom
  }

  /** True if the socket at the other end was destroyed. */
  get isOppositeGone(): boolean {
    return this.#opposite?.gone === true
  }

  /** Number of bytes that this end's socket has not read. */
  get waiting(): number {
    return this.#inbox.size
  }

  get hasRoom(): boolean {
    return this.#inbox.hasRoom
  }

  finishWith(how: 'end' | 'reset'): void {
    if (this.gone) return
    if (this.#finish === 'open' || (this.#finish === 'end' && how === 'reset')) this.#finish = how
    this.#schedule()
  }

  closeIfIdle(): boolean {
    const opposite = this.#opposite
    const isOpen = !this.gone && this.#finish === 'open' && this.#held === undefined
    if (!isOpen || this.#owesAnswer || opposite === undefined || opposite.gone) return false
    const destroy = (): void => this.#enter(() => runGuarded(() => this.socket.destroy()))
    if (this.#inbox.isEmpty) this.#idleClose.ask(opposite, this.bytesRead, destroy)
    return true
  }

  /** In a turn of its own: a request that was begun in this one has not written yet. */
  closeIfSent(received: number): void {
    setImmediate(() => this.#enter(() => runGuarded(() => this.#closeIfSent(received))))
  }

  /** Runs at the client's end. The server's end is destroyed when its input ends. */
  #closeIfSent(received: number): void {
    const hasSent = this.bytesWritten !== received || this.socket.writableLength > 0
    if (this.gone || this.#finish !== 'open' || hasSent) return
    leaveAgent(this.socket)
    this.#opposite!.finishWith('end')
    this.#finish = 'end'
    this.#run()
  }

  #joined(): void {
    this.#held?.start?.()
    if (!this.#inbox.isEmpty || this.#finish !== 'open') this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(runTurn, this)
  }

  /** Called by the event loop only. */
  runTurn(): void {
    this.#isScheduled = false
    if (!this.gone) this.#enter(() => runGuarded(() => this.#run()))
  }

  #run(): void {
    let isComplete = false
    try {
      this.#step()
      isComplete = true
    } finally {
      // A listener that throws must not stop later events.
      if (!isComplete || this.#hasNext()) this.#schedule()
    }
  }

  /**
   * One event per turn, as from a kernel: the ticks that it causes run before the next event, and
   * two busy ends leave time for the rest of the thread.
   */
  #step(): void {
    if (this.#begin()) return
    const piece = this.#isReading ? this.#inbox.take() : undefined
    if (piece !== undefined) this.#deliver(piece)
    if (this.gone) return
    if (this.#opposite !== undefined) this.#opposite.makeRoom()
    if (piece === undefined && this.#finish !== 'open') this.#noticeFinish()
  }

  #hasNext(): boolean {
    const isFinishing = this.#finish === 'end' || this.#finish === 'reset'
    return this.#isReading && !this.gone && (!this.#inbox.isEmpty || isFinishing)
  }

  #begin(): boolean {
    const begin = this.#onFirstBytes
    if (begin === undefined || (this.#inbox.size === 0 && this.#finish === 'open')) return false
    this.#onFirstBytes = undefined
    // A client that leaves without a word waits for the other end to close, as an HTTP server does.
    if (this.#inbox.size > 0) begin()
    else this.socket.destroy()
    return true
  }

  #deliver(piece: Buffer): void {
    this.bytesRead += piece.length
    this.#owesAnswer = true
    this.socket.touch()
    if (!this.socket.push(piece)) this.#isReading = false
  }

  makeRoom(): void {
    const held = this.#held
    const { gone, hasRoom } = this.#opposite!
    // Of an end that is gone, the next turn tells the writer: room would hide that.
    if (held === undefined || this.socket.connecting || gone || !hasRoom) return
    this.#held = undefined
    this.#enter(() =>
      runGuarded(() => {
        this.socket.touch()
        held.done()
      }),
    )
  }

  #noticeFinish(): void {
    this.#noticeOppositeGone()
    const isAsked = this.#idleClose.isAsked
    if (this.#finish === 'delivered' || (!this.#isReading && !isAsked)) return
    const how = this.#finish
    this.#finish = 'delivered'
    if (isAsked) this.socket.destroy()
    else if (how === 'reset') this.socket.destroy(systemError('read', 'ECONNRESET'))
    else endReading(this.socket)
  }

  #noticeOppositeGone(): void {
    this.#sawOppositeGone = this.#opposite!.gone
    const held = this.#held
    if (held === undefined || !this.#sawOppositeGone) return
    this.#held = undefined
    held.done(systemError('write', 'ECONNRESET'))
  }
}

/** `read(0)` emits `'end'` even if nothing reads and nothing waits, as Node's own sockets do. */
function endReading(socket: MemorySocket): void {
  socket.push(null)
  socket.read(0)
}

function runTurn(end: ConnectionEnd): void {
  end.runTurn()
}
