/** The admin API's operations: what one is. They are listed in `table.ts`. */
import type { Readable } from 'node:stream'
import type * as z from 'zod'
import type { EdgeTotal } from '../../../observe/metrics/edge-totals.ts'
import type { RecentLog } from '../../../observe/recent-log.ts'
import type { RunningApp, StartCommand } from '../../running-app.ts'
import type { Observations } from '../../workers/observations.ts'
import type { WorkerHandle } from '../../workers/worker-handle.ts'

/** What an operation works with. */
export interface OperationContext {
  readonly running: RunningApp
  /** All workers that have not ended. */
  readonly workers: () => readonly WorkerHandle[]
  /** Undefined if the app was started without a log that keeps its recent lines. */
  readonly recentLog?: RecentLog | undefined
  readonly observations: Observations
  /** The edges with all of their latency buckets, as of the last `status()`. */
  readonly edges: () => readonly EdgeTotal[]
  /** Undefined: a program started the app, by `startApp`. */
  readonly command: (StartCommand & { readonly mode: 'start' | 'dev' }) | undefined
  /** Ends the whole command that runs the app, as a stop signal does. Returns at once. */
  readonly requestStop: () => void
  /**
   * Resolves when the config is read and a restart of the whole app has begun. Undefined if what
   * started the app cannot do that.
   */
  readonly requestRestart?: (() => Promise<void>) | undefined
  /** Aborts when the client has disconnected, and when the app ends. */
  readonly signal: AbortSignal
}

interface Common<Input extends z.ZodObject> {
  /** The `operationId` of the OpenAPI document. */
  readonly name: string
  readonly method: 'GET' | 'POST'
  /** Parameters are whole segments in braces: `/services/{service}/call`. */
  readonly path: `/${string}`
  readonly summary: string
  /**
   * All parameters. Those in the path come from there; the others come from the query of a GET and
   * from the JSON body of a POST. Texts from path and query need a schema that accepts texts.
   */
  readonly input: Input
  /** Answers without the token, on the port too. */
  readonly isPublic?: boolean
  /** Refused on the admin port, even with the token. */
  readonly localOnly?: true
  /** The HTTP status of success. Default: 200. */
  readonly status?: 200 | 202
}

/** Answers one JSON value. */
export interface JsonOperation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> extends Common<Input> {
  readonly answers: 'json'
  readonly output: Output
  handle(input: z.output<Input>, context: OperationContext): z.output<Output> | Promise<z.output<Output>>
}

/** Answers lines of JSON, as they come. */
export interface LinesOperation<Input extends z.ZodObject = z.ZodObject> extends Common<Input> {
  readonly answers: 'lines'
  /** Each line. */
  readonly output: z.ZodType
  /** Each text is one line of JSON, with its newline. */
  handle(input: z.output<Input>, context: OperationContext): AsyncIterable<string>
}

/** Answers a text of another type. */
export interface TextOperation<Input extends z.ZodObject = z.ZodObject> extends Common<Input> {
  readonly answers: 'text'
  readonly type: string
  /** Another type, which the client gets if its `Accept` names it. */
  readonly other?: { readonly type: string; handle(input: z.output<Input>, context: OperationContext): string }
  handle(input: z.output<Input>, context: OperationContext): string
}

/** Answers server-sent events, as they come. */
export interface EventsOperation<Input extends z.ZodObject = z.ZodObject> extends Common<Input> {
  readonly answers: 'events'
  /** The data of each event, by its name. */
  readonly output: z.ZodType
  /** Is read only as fast as the client reads: what it yields must not be collected before. */
  handle(input: z.output<Input>, context: OperationContext): AsyncIterable<ServerEvent>
}

export interface ServerEvent {
  readonly event: string
  readonly data: unknown
}

/** Answers the bytes of a file. */
export interface FileOperation<Input extends z.ZodObject = z.ZodObject> extends Common<Input> {
  readonly answers: 'file'
  handle(input: z.output<Input>, context: OperationContext): Promise<Readable>
}

export type Operation = JsonOperation | LinesOperation | EventsOperation | TextOperation | FileOperation

/** Keeps the types of input and output, with which the client of the API is typed. */
export function defineJson<Input extends z.ZodObject, Output extends z.ZodType>(
  operation: Omit<JsonOperation<Input, Output>, 'answers'>,
): JsonOperation<Input, Output> {
  return { answers: 'json', ...operation }
}

export function defineLines<Input extends z.ZodObject>(
  operation: Omit<LinesOperation<Input>, 'answers'>,
): LinesOperation<Input> {
  return { answers: 'lines', ...operation }
}

export function defineEvents<Input extends z.ZodObject>(
  operation: Omit<EventsOperation<Input>, 'answers'>,
): EventsOperation<Input> {
  return { answers: 'events', ...operation }
}

export function defineText<Input extends z.ZodObject>(
  operation: Omit<TextOperation<Input>, 'answers'>,
): TextOperation<Input> {
  return { answers: 'text', ...operation }
}

export function defineFile<Input extends z.ZodObject>(
  operation: Omit<FileOperation<Input>, 'answers'>,
): FileOperation<Input> {
  return { answers: 'file', ...operation }
}
