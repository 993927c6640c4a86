/**
 * Answers that leave together. A write wakes whoever waits at the other end, and where that is on the same machine it costs more
 * than all else a small answer does: a server that answers a hundred connections in one turn of its event loop would wake its
 * client a hundred times. So the first answer of a turn leaves at once, and all others when the turn is over. Figures, and what
 * this must not change: docs/decisions/gathered-writes.md.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Socket } from 'node:net'
import { Turn } from '../../mesh/turn.ts'
import { type Piece, replaceWrites, setPending, type SocketWrites, writesOf } from '../../node/socket-writes.ts'

/** Bytes of a write that may wait; the call is nothing beside what more of them cost. */
const maxSize = 16 * 1024
/** Bytes that may wait in a thread. */
const maxWaiting = 128 * 1024
/** After so many milliseconds the next that is written takes along all that waits: many slow answers make one long turn. */
const maxWait = 0.5

/** Fewer than `worthwhile` are not worth what it takes to hear of the turn's end: after four such turns `rest` writes have none. */
const worthwhile = 6
const poorTurns = 4
const rest = 64
/** Milliseconds that the loop was blocked for while answers waited: then some of the next leave at once. */
const blocked = 5
/** How many: twice as many each time, and a tenth fewer with each turn that nothing blocked. A stolen processor is no blocking program. */
const truce = { least: 256, most: 16_384 } as const

/** Nobody's async context. */
const clean = AsyncLocalStorage.snapshot()

/**
 * What this socket writes may leave at the end of a turn from now on. To its program it has left, as what a kernel holds has. For
 * TCP alone: over TLS a write is underway for a turn more, and Node ends the process of a socket that is given two at a time.
 */
export function gatherWrites(socket: Socket): void {
  thread ??= new TurnOfWrites()
  new GatheredSocket(socket, thread).stepIn()
}

/** Of this thread. */
let thread: TurnOfWrites | undefined

/** All that the connections of a thread write in one turn of its event loop. */
class TurnOfWrites {
  #isOpen = false
  /** Since when the first of them waits. */
  #since = 0
  #size = 0
  /** How many of this turn wait or have waited. */
  #gathered = 0
  /** Turns in a row in which too few did. */
  #poor = 0
  /** So many of the next writes leave at once; and after the next turn that is blocked. */
  #atOnce = 0
  #truce: number = truce.least
  readonly #waiting = new Turn<GatheredSocket>(
    () => (this.#since = performance.now()),
    (socket) => socket.leave(),
  )

  constructor() {
    clean(() => process.on('exit', () => this.#leave()))
  }

  /** False for the first of a turn: nobody has to wait for it. */
  mayWait(): boolean {
    if (this.#isOpen) return true
    if (this.#atOnce > 0) this.#atOnce--
    else this.#open()
    return false
  }

  add(socket: GatheredSocket, size: number): void {
    this.#gathered++
    this.#waiting.add(socket)
    this.#size += size
    if (this.#size > maxWaiting || performance.now() - this.#since > maxWait) this.#leave()
  }

  #open(): void {
    this.#isOpen = true
    this.#gathered = 0
    clean(() => setImmediate(this.#over))
  }

  readonly #over = (): void => {
    this.#isOpen = false
    this.#poor = this.#gathered < worthwhile ? this.#poor + 1 : 0
    if (this.#poor >= poorTurns) this.#atOnce = rest
    if (this.#waiting.size === 0) return
    this.#judge(performance.now() - this.#since)
    this.#leave()
  }

  #judge(waited: number): void {
    if (waited > blocked) {
      this.#atOnce = this.#truce
      this.#truce = Math.min(truce.most, 2 * this.#truce)
    } else this.#truce = Math.max(truce.least, 0.9 * this.#truce)
  }

  #leave(): void {
    this.#size = 0
    this.#waiting.run()
  }
}

class GatheredSocket {
  readonly #socket: Socket
  readonly #turn: TurnOfWrites
  readonly #own: SocketWrites
  /** Into the context of the connection, for errors. */
  readonly #enter = AsyncLocalStorage.snapshot()
  #pieces: Piece[] = []
  /** How many have left that the kernel has no room for: then its program is to feel how slow the client is. */
  #underway = 0

  constructor(socket: Socket, turn: TurnOfWrites) {
    this.#socket = socket
    this.#turn = turn
    this.#own = writesOf(socket)
  }

  stepIn(): void {
    const own = this.#own
    replaceWrites(this.#socket, {
      write: (chunk, encoding, done) => {
        if (!this.#takes(chunk.length)) return own.write(chunk, encoding, done)
        this.#add([{ chunk, encoding }], chunk.length)
        done()
      },
      writeAll: (pieces, done) => {
        const size = pieces.reduce((sum, { chunk }) => sum + chunk.length, 0)
        if (!this.#takes(size)) return own.writeAll(pieces, done)
        this.#add(pieces, size)
        done()
      },
      final: (done) => {
        this.leave()
        own.final(done)
      },
      destroy: (error, done) => {
        this.leave()
        own.destroy(error, done)
      },
    })
  }

  leave(): void {
    const pieces = this.#pieces
    const [first] = pieces
    if (first === undefined) return
    this.#pieces = []
    this.#underway++
    if (pieces.length === 1) this.#own.write(first.chunk, first.encoding, this.#left)
    else this.#own.writeAll(pieces, this.#left)
  }

  readonly #left = (error?: Error | null): void => {
    this.#underway--
    if (error) this.#enter(() => this.#socket.destroy(error))
  }

  /** What is not to wait does not overtake what does. */
  #takes(size: number): boolean {
    if (size <= maxSize && this.#underway === 0 && this.#turn.mayWait()) return true
    this.leave()
    return false
  }

  #add(pieces: readonly Piece[], size: number): void {
    for (const piece of pieces) this.#pieces.push(own(piece))
    setPending(this.#socket, this.#pieces)
    this.#turn.add(this, size)
  }
}

/** The writer may use its bytes anew once they are written. */
function own({ chunk, encoding }: Piece): Piece {
  return { chunk: typeof chunk === 'string' ? chunk : Buffer.from(chunk), encoding }
}
