import { writeSync } from 'node:fs'
import type { Output } from './output.ts'

/** The original: the sandbox replaces `fs.writeSync`. */
const write = writeSync

const descriptors = { stdout: 1, stderr: 2 } as const

/** Milliseconds before a full pipe is tried again. */
const retryInterval = 2

/** Never notified: for sleeping synchronously. */
const sleepCell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

/**
 * The output of a worker process, whose pipes lead to the supervisor. Writes are synchronous: Node
 * would buffer what does not fit into a pipe in memory, and lose it at `process.exit()`.
 */
export class PipedOutput implements Output {
  write(stream: 'stdout' | 'stderr', chunk: string | Uint8Array): void {
    let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    while (rest.byteLength > 0) {
      const written = tryWrite(descriptors[stream], rest)
      if (written === undefined) return
      if (written === 0) Atomics.wait(sleepCell, 0, 0, retryInterval)
      rest = rest.subarray(written)
    }
  }

  /** Does nothing: the supervisor ends unfinished lines. */
  flush(): void {}
}

/**
 * Returns the number of bytes written: 0 if the pipe is full, undefined if its reader has closed
 * it.
 */
function tryWrite(descriptor: number, bytes: Uint8Array): number | undefined {
  try {
    return write(descriptor, bytes)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : undefined
  }
}
