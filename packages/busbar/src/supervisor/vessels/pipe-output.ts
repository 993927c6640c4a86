import { AsyncLocalStorage } from 'node:async_hooks'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogRecord } from '../../shared/control.ts'
import { Lines } from '../../shared/lines.ts'
import { levelsOfStderr } from '../../shared/stderr-level.ts'
import type { OutputScheduler, OutputSource } from './output-scheduler.ts'

export interface PipeOutputParts {
  readonly stream: Readable
  readonly name: 'stdout' | 'stderr'
  readonly scheduler: OutputScheduler
  readonly line: (text: string, stream: 'stdout' | 'stderr', level: LogRecord['level']) => void
}

/** Bytes that are read in one go. */
const chunkSize = 8 * 1024

/** Reads the lines of a worker's pipe in its turn. Meanwhile the pipe fills, and its writer waits. */
export class PipeOutput implements OutputSource {
  /** Resolves when all has been read. */
  readonly ended: Promise<void>
  readonly #parts: PipeOutputParts
  readonly #splitter = new Lines((line) => this.#lines.push(line))
  #lines: string[] = []

  constructor(parts: PipeOutputParts) {
    this.#parts = parts
    const { stream, scheduler } = parts
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    // Explicit reads: Node resumes a child's paused pipes when the child exits. In the context of this call: see `contained.ts`.
    const ready = (): void => scheduler.ready(this)
    stream.on('readable', AsyncLocalStorage.bind(ready))
    const closed = (): void => {
      this.drain()
      this.#splitter.flush()
      this.#emit()
      resolve()
    }
    stream.once('close', AsyncLocalStorage.bind(closed))
    // Node says so of a pipe that it cannot read any more; what came before counts.
    stream.on('error', () => {})
  }

  read(): boolean {
    const { stream } = this.#parts
    const length = Math.min(stream.readableLength, chunkSize)
    const chunk = length === 0 ? null : (stream.read(length) as Uint8Array | null)
    if (chunk !== null) {
      this.#splitter.push(chunk)
      this.#emit()
    }
    // Asks for more, and for the end where there is none.
    if (stream.readableLength === 0) stream.read(0)
    return stream.readableLength > 0
  }

  /** Reads what has arrived, whoever's turn it is: the worker has ended. */
  drain(): void {
    while (this.read());
  }

  #emit(): void {
    const { name, line } = this.#parts
    const lines = this.#lines
    if (lines.length === 0) return
    this.#lines = []
    const levels = name === 'stderr' ? levelsOfStderr(lines) : undefined
    for (const [index, text] of lines.entries()) line(text, name, levels?.[index] ?? 'info')
  }
}

/** How long what a child last wrote may take to be read. A grandchild may hold the pipes for longer. */
const lastWords = 100

/** Both pipes of a child process. */
export class ChildOutput {
  readonly #pipes: readonly PipeOutput[]

  constructor(
    child: { stdout: Readable | null | undefined; stderr: Readable | null | undefined },
    scheduler: OutputScheduler,
    line: PipeOutputParts['line'],
  ) {
    this.#pipes = (['stdout', 'stderr'] as const).flatMap((name) => {
      const stream = child[name]
      // There is none where the system refused the process, whatever Node's types say.
      return stream == null ? [] : [new PipeOutput({ stream, name, scheduler, line })]
    })
  }

  /** After the child's exit: resolves when what it wrote has been read, or soon. */
  async ended(): Promise<void> {
    const late = new AbortController()
    const all = Promise.all(this.#pipes.map(({ ended }) => ended))
    await Promise.race([all, sleep(lastWords, undefined, { signal: late.signal }).catch(() => {})])
    late.abort()
    for (const pipe of this.#pipes) pipe.drain()
  }
}
