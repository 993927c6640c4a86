import { AsyncLocalStorage } from 'node:async_hooks'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OutputLine } from '../../../shared/output/log-levels.ts'
import { LineSplitter } from '../../../shared/output/line-splitter.ts'
import { levelsOfStderr } from '../../../shared/output/log-levels.ts'
import type { OutputScheduler, OutputSource } from './output-scheduler.ts'

export interface PipeOutputParts {
  readonly stream: Readable
  readonly name: 'stdout' | 'stderr'
  readonly scheduler: OutputScheduler
  readonly line: (line: OutputLine) => void
}

/** Bytes per read. */
const chunkSize = 8 * 1024

/** Reads the lines of a worker's pipe in turn. Until then the pipe fills, and its writer waits. */
export class PipeOutput implements OutputSource {
  /** Resolves when everything has been read. */
  readonly ended: Promise<void>
  readonly #parts: PipeOutputParts
  readonly #splitter = new LineSplitter((line, continues) =>
    this.#lines.push({ line, ...(continues && { continues }) }),
  )
  #lines: Pick<OutputLine, 'line' | 'continues'>[] = []

  constructor(parts: PipeOutputParts) {
    this.#parts = parts
    const { stream, scheduler } = parts
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    // Explicit reads, because Node resumes a child's paused pipes when the child exits. Bound to
    // the context of this call: see `channel-errors.ts`.
    const ready = (): void => scheduler.ready(this)
    stream.on('readable', AsyncLocalStorage.bind(ready))
    const closed = (): void => {
      this.drain()
      this.#splitter.flush()
      this.#emit()
      resolve()
    }
    stream.once('close', AsyncLocalStorage.bind(closed))
    // Node cannot read the pipe any more; what it has read so far counts.
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
    // Requests more, and the end event if there is none.
    if (stream.readableLength === 0) stream.read(0)
    return stream.readableLength > 0
  }

  /** Reads everything that has arrived, out of turn: the worker has ended. */
  drain(): void {
    while (this.read());
  }

  #emit(): void {
    const { name: stream, line } = this.#parts
    const lines = this.#lines
    if (lines.length === 0) return
    this.#lines = []
    const levels = stream === 'stderr' ? levelsOfStderr(lines.map((one) => one.line)) : undefined
    for (const [index, one] of lines.entries()) line({ ...one, stream, level: levels?.[index] ?? 'info' })
  }
}

/**
 * Milliseconds after an exit in which the last output may arrive. A grandchild may hold the pipes
 * longer.
 */
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
      // Missing if the system refused to start the process, contrary to Node's types.
      return stream == null ? [] : [new PipeOutput({ stream, name, scheduler, line })]
    })
  }

  /** After the child's exit: resolves when its output has been read, or soon. */
  async ended(): Promise<void> {
    const late = new AbortController()
    const all = Promise.all(this.#pipes.map(({ ended }) => ended))
    await Promise.race([all, sleep(lastWords, undefined, { signal: late.signal }).catch(() => {})])
    late.abort()
    for (const pipe of this.#pipes) pipe.drain()
  }
}
