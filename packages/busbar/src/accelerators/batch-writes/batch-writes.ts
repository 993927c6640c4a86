/**
 * Sends responses in batches. A write wakes the process at the other end. If that is on the same
 * machine, waking it costs more than everything else about a small response: a server that responds
 * on a hundred connections in one turn of the event loop would wake its client a hundred times. So
 * the first write of a turn is sent at once, and all others at the end of the turn. Figures and
 * constraints: docs/decisions/call/write-batching.md.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Socket } from 'node:net'
import { TurnBatch } from '../../mesh/batch.ts'
import { type Piece, replaceWrites, setPending, type SocketWrites, writesOf } from '../../node/socket-writes.ts'

/** Largest write, in bytes, that is delayed. For larger ones the cost of the call is negligible. */
const maxSize = 16 * 1024
/** Bytes that may wait in a thread. */
const maxWaiting = 128 * 1024
/**
 * Milliseconds after which the next write sends all that waits: slow responses make a long turn.
 */
const maxWait = 0.5

/**
 * With fewer writes per turn, batching costs more than it saves. After `maxSparseTurns` such turns,
 * the next `sparsePause` writes are sent at once.
 */
const minBatch = 6
const maxSparseTurns = 4
const sparsePause = 64
/**
 * If the event loop was blocked this long, in milliseconds, while writes waited, batching pauses.
 */
const blockedTime = 5
/**
 * The length of that pause, in writes. It doubles each time that the loop was blocked, and shrinks
 * by a tenth with every turn in which it was not, since a stolen processor also looks blocked.
 */
const blockedPause = { min: 256, max: 16_384 } as const

/** An empty async context. */
const clean = AsyncLocalStorage.snapshot()

/**
 * Lets the socket's writes wait until the end of the turn. To the program they are complete, like
 * data in the kernel's buffers. For TCP only: over TLS a write takes another turn, and Node aborts
 * the process if a socket gets two writes at a time.
 */
export function batchWrites(socket: Socket): void {
  thread ??= new WriteBatch()
  new BatchedSocket(socket, thread).install()
}

/** The batch of this thread. */
let thread: WriteBatch | undefined

/** The delayed writes of all connections of a thread, in one turn of its event loop. */
class WriteBatch {
  #isOpen = false
  /** Time of the first delayed write. */
  #since = 0
  #size = 0
  /** Number of delayed writes in this turn. */
  #count = 0
  /** Consecutive turns with fewer than `minBatch`. */
  #sparseTurns = 0
  /** Number of next writes that are sent at once. */
  #paused = 0
  /** Length of the pause after the next turn that is blocked. */
  #blockedPause: number = blockedPause.min
  readonly #waiting = new TurnBatch<BatchedSocket>(
    () => (this.#since = performance.now()),
    (socket) => socket.flush(),
  )

  constructor() {
    clean(() => process.on('exit', () => this.#flush()))
  }

  /** False for the first write of a turn, which is sent at once. */
  mayWait(): boolean {
    if (this.#isOpen) return true
    if (this.#paused > 0) this.#paused--
    else this.#open()
    return false
  }

  add(socket: BatchedSocket, size: number): void {
    this.#count++
    this.#waiting.add(socket)
    this.#size += size
    if (this.#size > maxWaiting || performance.now() - this.#since > maxWait) this.#flush()
  }

  #open(): void {
    this.#isOpen = true
    this.#count = 0
    clean(() => setImmediate(this.#close))
  }

  /** The turn is over. */
  readonly #close = (): void => {
    this.#isOpen = false
    this.#sparseTurns = this.#count < minBatch ? this.#sparseTurns + 1 : 0
    if (this.#sparseTurns >= maxSparseTurns) this.#paused = sparsePause
    if (this.#waiting.size === 0) return
    this.#pauseIfBlocked(performance.now() - this.#since)
    this.#flush()
  }

  #pauseIfBlocked(waited: number): void {
    if (waited > blockedTime) {
      this.#paused = this.#blockedPause
      this.#blockedPause = Math.min(blockedPause.max, 2 * this.#blockedPause)
    } else this.#blockedPause = Math.max(blockedPause.min, 0.9 * this.#blockedPause)
  }

  #flush(): void {
    this.#size = 0
    this.#waiting.run()
  }
}

class BatchedSocket {
  readonly #socket: Socket
  readonly #batch: WriteBatch
  readonly #own: SocketWrites
  /** Runs a function in the connection's async context, for errors. */
  readonly #enter = AsyncLocalStorage.snapshot()
  #pieces: Piece[] = []
  /**
   * Writes that the kernel has no room for. While there are any, backpressure reaches the program.
   */
  #underway = 0

  constructor(socket: Socket, batch: WriteBatch) {
    this.#socket = socket
    this.#batch = batch
    this.#own = writesOf(socket)
  }

  install(): void {
    const own = this.#own
    replaceWrites(this.#socket, {
      write: (chunk, encoding, done) => {
        if (!this.#mayDelay(chunk.length)) return own.write(chunk, encoding, done)
        this.#add([{ chunk, encoding }], chunk.length)
        done()
      },
      writeAll: (pieces, done) => {
        const size = pieces.reduce((sum, { chunk }) => sum + chunk.length, 0)
        if (!this.#mayDelay(size)) return own.writeAll(pieces, done)
        this.#add(pieces, size)
        done()
      },
      final: (done) => {
        this.flush()
        own.final(done)
      },
      destroy: (error, done) => {
        this.flush()
        own.destroy(error, done)
      },
    })
  }

  flush(): void {
    const pieces = this.#pieces
    const [first] = pieces
    if (first === undefined) return
    this.#pieces = []
    this.#underway++
    if (pieces.length === 1) this.#own.write(first.chunk, first.encoding, this.#flushed)
    else this.#own.writeAll(pieces, this.#flushed)
  }

  readonly #flushed = (error?: Error | null): void => {
    this.#underway--
    if (error) this.#enter(() => this.#socket.destroy(error))
  }

  /** If the write must not wait, flushes the delayed ones first, to keep the order. */
  #mayDelay(size: number): boolean {
    if (size <= maxSize && this.#underway === 0 && this.#batch.mayWait()) return true
    this.flush()
    return false
  }

  #add(pieces: readonly Piece[], size: number): void {
    for (const piece of pieces) this.#pieces.push(copy(piece))
    setPending(this.#socket, this.#pieces)
    this.#batch.add(this, size)
  }
}

/** The writer may reuse its buffer once the write is complete. */
function copy({ chunk, encoding }: Piece): Piece {
  return { chunk: typeof chunk === 'string' ? chunk : Buffer.from(chunk), encoding }
}
