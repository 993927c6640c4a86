import { writeSync } from 'node:fs'
import type { Output } from './output.ts'

/** As it was before programs got theirs in its place, which leads here. */
const write = writeSync

const descriptors = { stdout: 1, stderr: 2 } as const

/** How long to wait for room in a full pipe before the next try, in milliseconds. */
const retryInterval = 2

const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

/**
 * The output of a process, which has pipes to the supervisor. Each write is finished before it returns: Node itself would
 * keep what finds no room in the process's memory, and lose it at `process.exit()`.
 */
export class PipedOutput implements Output {
  write(stream: 'stdout' | 'stderr', chunk: string | Uint8Array): void {
    let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    while (rest.byteLength > 0) {
      const written = tryWrite(descriptors[stream], rest)
      if (written === undefined) return
      if (written === 0) Atomics.wait(never, 0, 0, retryInterval)
      rest = rest.subarray(written)
    }
  }

  /** Unfinished lines are the supervisor's to end. */
  flush(): void {}
}

/** Bytes that were written; 0 while the pipe is full, undefined where nobody reads it any more. */
function tryWrite(descriptor: number, bytes: Uint8Array): number | undefined {
  try {
    return write(descriptor, bytes)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : undefined
  }
}
