import type { Server } from 'node:http'
import type { Recording } from './recording.ts'

/**
 * A way for one program to call another. Every case of this suite runs over real TCP, which is the oracle, and over each
 * other backend; what both sides saw has to be equal. A new transport joins by implementing this.
 */
export interface Backend {
  readonly name: string
  /** Makes `server`, which does not listen yet, callable. */
  serve(server: Server): Promise<Link>
}

/** One program that can be called. Disposing closes the server and everything that leads to it. */
export interface Link extends AsyncDisposable {
  /** Undefined where this way hands such a request over to another. */
  open(request: CallerRequest, recording: Recording): CallerControl | undefined
}

export interface CallerRequest {
  readonly method: string
  readonly path: string
  /** Name, value, name, value…; `Host` and `Connection` are among them. */
  readonly rawHeaders: string[]
  readonly body: string | Uint8Array | null
  readonly streamed: boolean
}

export interface CallerControl {
  /** False: wait for {@link Recording.drained}. */
  write(chunk: Uint8Array | string): boolean
  end(rawTrailers?: string[]): void
  abort(): void
  /** Reading begins paused for a {@link Recording} that is `slow`. */
  resume(): void
}
