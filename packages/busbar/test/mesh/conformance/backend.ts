import type { Server } from 'node:http'
import type { Recording } from './recording.ts'

/**
 * A way for one program to call another. Every case of this suite runs over real TCP, the oracle,
 * and over each other backend. What both sides see must be equal. A new way to call implements this
 * interface.
 */
export interface Backend {
  readonly name: string
  /** Makes `server`, which does not listen yet, callable. */
  serve(server: Server): Promise<Link>
}

/** One program that can be called. Disposing closes the server and its connections. */
export interface Link extends AsyncDisposable {
  /** Undefined if this way leaves such a request to another. */
  open(request: CallerRequest, recording: Recording): CallerControl | undefined
}

export interface CallerRequest {
  readonly method: string
  readonly path: string
  /** Name, value, name, value…, with `Host` and `Connection`. */
  readonly rawHeaders: string[]
  readonly body: string | Uint8Array | null
  readonly streamed: boolean
}

export interface CallerControl {
  /** False: wait for {@link Recording.drained}. */
  write(chunk: Uint8Array | string): boolean
  end(rawTrailers?: string[]): void
  abort(): void
  /** For a `slow` {@link Recording} reading starts paused. */
  resume(): void
}
