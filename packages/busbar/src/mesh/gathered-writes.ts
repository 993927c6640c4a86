/**
 * Answers that leave together. A write wakes whoever waits at the other end, and where that is on the same machine it costs more
 * than all else a small answer does: a server that answers a hundred connections in one turn of its event loop would wake its
 * client a hundred times. So the first answer of a turn leaves at once, and all others when the turn is over. Figures, and what
 * this must not change: docs/decisions/gathered-writes.md.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Socket } from 'node:net'
import type { Done } from './bytes/socket.ts'
import { Turn } from './turn.ts'

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

interface Piece {
  readonly chunk: string | Buffer
  readonly encoding: BufferEncoding
}

/** What Node asks of whoever implements a stream, and what it has for those that are not connected yet. */
interface Hooks {
  _write: (chunk: string | Buffer, encoding: BufferEncoding, done: Done) => void
  _writev: (pieces: readonly Piece[], done: Done) => void
  _final: (done: Done) => void
  _destroy: (error: Error | null, done: Done) => void
  /** Written, and not given to the kernel: `bytesWritten` counts it. */
  _pendingData: readonly Piece[] | null
}

type HookedSocket = Omit<Socket, keyof Hooks> & Hooks

class GatheredSocket {
  readonly #socket: HookedSocket
  readonly #turn: TurnOfWrites
  readonly #own: Pick<Hooks, '_write' | '_writev'>
  /** Into the context of the connection, for errors. */
  readonly #enter = AsyncLocalStorage.snapshot()
  #pieces: Piece[] = []
  /** How many have left that the kernel has no room for: then its program is to feel how slow the client is. */
  #underway = 0

  constructor(socket: Socket, turn: TurnOfWrites) {
    this.#socket = socket as HookedSocket
    this.#turn = turn
    const { _write, _writev } = this.#socket
    this.#own = { _write, _writev }
  }

  stepIn(): void {
    const socket = this.#socket
    const { _write, _writev } = this.#own
    const { _final, _destroy } = socket
    socket._write = (chunk, encoding, done) => {
      if (!this.#takes(chunk.length)) return _write.call(socket, chunk, encoding, done)
      this.#add([{ chunk, encoding }], chunk.length)
      done()
    }
    socket._writev = (pieces, done) => {
      const size = pieces.reduce((sum, { chunk }) => sum + chunk.length, 0)
      if (!this.#takes(size)) return _writev.call(socket, pieces, done)
      this.#add(pieces, size)
      done()
    }
    socket._final = (done) => {
      this.leave()
      _final.call(socket, done)
    }
    socket._destroy = (error, done) => {
      this.leave()
      _destroy.call(socket, error, done)
    }
  }

  leave(): void {
    const pieces = this.#pieces
    const [first] = pieces
    if (first === undefined) return
    const { _write, _writev } = this.#own
    this.#pieces = []
    this.#underway++
    if (pieces.length === 1) _write.call(this.#socket, first.chunk, first.encoding, this.#left)
    else _writev.call(this.#socket, pieces, this.#left)
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
    this.#socket._pendingData = this.#pieces
    this.#turn.add(this, size)
  }
}

/** The writer may use its bytes anew once they are written. */
function own({ chunk, encoding }: Piece): Piece {
  return { chunk: typeof chunk === 'string' ? chunk : Buffer.from(chunk), encoding }
}
