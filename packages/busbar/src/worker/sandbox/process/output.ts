import fs from 'node:fs'
import type { LogRecord } from '../../../shared/control-messages.ts'
import { isWarning } from '../../../shared/output/log-levels.ts'
import { LineSplitter } from '../../../shared/output/line-splitter.ts'
import { replaceProperty } from '../../../shared/process/replace-property.ts'
import type { Programs } from './programs.ts'

type Stream = 'stdout' | 'stderr'
type Chunk = string | Uint8Array

/** Where the output of this worker's programs goes. */
export interface Output {
  write(stream: Stream, chunk: Chunk): void
  /** Emits unfinished lines of one service, or of all. */
  flush(service?: string): void
}

/** Turns everything that this thread's programs print into log records with the service's name. */
export class RecordedOutput implements Output {
  readonly #programs: Programs
  readonly #log: (record: LogRecord) => void
  readonly #lines = new Map<string, LineSplitter>()
  /** Level of the chunk that is being written; undefined: each line decides. */
  #level: LogRecord['level'] | undefined

  constructor(programs: Programs, log: (record: LogRecord) => void) {
    this.#programs = programs
    this.#log = log
  }

  write(stream: Stream, chunk: Chunk): void {
    // Node writes a warning in one chunk, which may have several lines.
    this.#level = stream === 'stderr' && typeof chunk === 'string' && isWarning(chunk) ? 'warn' : undefined
    this.#linesOf(this.#programs.currentOrOnly?.service.name, stream).push(chunk)
    this.#level = undefined
  }

  flush(service?: string): void {
    for (const [key, lines] of this.#lines) if (service === undefined || key.endsWith(` ${service}`)) lines.flush()
  }

  #linesOf(service: string | undefined, stream: Stream): LineSplitter {
    const key = `${stream} ${service ?? ''}`
    let lines = this.#lines.get(key)
    if (lines === undefined) {
      lines = new LineSplitter((line, continues) =>
        this.#log({
          time: Date.now(),
          level: this.#level ?? levelOf(line) ?? levels[stream],
          service,
          stream,
          line,
          ...(continues && { continues }),
        }),
      )
      this.#lines.set(key, lines)
    }
    return lines
  }
}

/**
 * Drops what a program prints behind its `process.exit()`. While it stops, the call throws: a
 * `catch` around it would report an error at each stop.
 */
export function untilExit(output: Output, programs: Programs): Output {
  return {
    write: (stream, chunk) => {
      if (programs.currentOrOnly?.exits !== true) output.write(stream, chunk)
    },
    flush: (service) => output.flush(service),
  }
}

/**
 * Captures `process.stdout` and `process.stderr`, which `console` uses, and writes to descriptors 1
 * and 2 by `fs`, which pino uses (Fastify's logger).
 */
export function patchOutput(output: Output, patches: DisposableStack): void {
  patchStream(output, patches, 'stdout')
  patchStream(output, patches, 'stderr')
  setStreamDescriptors(patches)
  patchWrite(output, patches)
  patchWriteSync(output, patches)
  patchWritev(output, patches)
  patchWriteFile(output, patches)
}

const levels = { stdout: 'info', stderr: 'error' } as const

/** The beginning of lines of pino and similar loggers. */
const levelPattern = /^\{"level":(?:(\d+)|"(trace|debug|info|warn|error|fatal)")/i

function levelOf(line: string): LogRecord['level'] | undefined {
  if (line.charCodeAt(0) !== openingBrace) return undefined
  const match = levelPattern.exec(line)
  if (match?.[2] !== undefined) return match[2].toLowerCase() as LogRecord['level']
  return match?.[1] === undefined ? undefined : pinoLevel(Number(match[1]))
}

function pinoLevel(level: number): LogRecord['level'] {
  if (level >= 60) return 'fatal'
  if (level >= 50) return 'error'
  if (level >= 40) return 'warn'
  if (level >= 30) return 'info'
  return level >= 20 ? 'debug' : 'trace'
}

const openingBrace = 123

function streamOf(descriptor: unknown): Stream | undefined {
  if (descriptor === 1) return 'stdout'
  return descriptor === 2 ? 'stderr' : undefined
}

/** Decodes a string in another encoding than UTF-8. */
function decode(data: Chunk, encoding: unknown): Chunk {
  const isDecoded = typeof data !== 'string' || encoding === undefined || encoding === 'utf8' || encoding === 'utf-8'
  if (isDecoded) return data
  return typeof encoding === 'string' && Buffer.isEncoding(encoding) ? Buffer.from(data, encoding) : data
}

function patchStream(output: Output, patches: DisposableStack, stream: Stream): void {
  const callbacks = new WriteCallbacks()
  const target = process[stream] as { write(...args: unknown[]): boolean }
  replaceProperty(patches, target, 'write', () => (chunk, ...rest) => {
    output.write(stream, decode(chunk as Chunk, rest[0]))
    const callback = rest.find((argument) => typeof argument === 'function') as (() => void) | undefined
    if (callback !== undefined) callbacks.add(callback)
    return true
  })
}

/** Supports `fs.writeSync(process.stdout.fd, …)`: a thread's streams have no `fd`. */
function setStreamDescriptors(patches: DisposableStack): void {
  for (const [fd, name] of (['stdin', 'stdout', 'stderr'] as const).entries()) {
    const stream: { fd?: number } = process[name]
    if (stream.fd !== undefined) continue
    stream.fd = fd
    patches.defer(() => delete stream.fd)
  }
}

/**
 * Callbacks of writes, called on the next tick. Calls of the same callback are counted, because
 * `console` passes the same one with each line and a loop may print a million lines.
 */
class WriteCallbacks {
  #pending: { readonly call: () => void; count: number }[] = []

  add(call: () => void): void {
    if (this.#pending.length === 0) process.nextTick(() => this.#run())
    const last = this.#pending.at(-1)
    if (last?.call === call) last.count++
    else this.#pending.push({ call, count: 1 })
  }

  #run(): void {
    const pending = this.#pending
    this.#pending = []
    for (const { call, count } of pending) for (let time = 0; time < count; time++) call()
  }
}

// Of the many overloads only the descriptor, which is first, and the callback, which is last,
// matter.
type WriteFunctions = Record<
  'write' | 'writeSync' | 'writev' | 'writevSync' | 'writeFileSync' | 'appendFileSync',
  (...args: unknown[]) => unknown
>
const fsWrites = fs as unknown as WriteFunctions

function patchWrite(output: Output, patches: DisposableStack): void {
  replaceProperty(patches, fsWrites, 'write', (original) => {
    const write = (...args: unknown[]): unknown => {
      const stream = streamOf(args[0])
      const callback = args.at(-1)
      if (stream === undefined || typeof callback !== 'function') return Reflect.apply(original, fs, args)
      const chunk = chunkOf(args)
      output.write(stream, chunk)
      process.nextTick(callback, null, Buffer.byteLength(chunk), args[1])
      return undefined
    }
    return write
  })
}

function patchWriteSync(output: Output, patches: DisposableStack): void {
  replaceProperty(patches, fsWrites, 'writeSync', (original) => (...args) => {
    const stream = streamOf(args[0])
    if (stream === undefined) return Reflect.apply(original, fs, args)
    const chunk = chunkOf(args)
    output.write(stream, chunk)
    return Buffer.byteLength(chunk)
  })
}

function patchWritev(output: Output, patches: DisposableStack): void {
  const writeAll = (stream: Stream, buffers: Uint8Array[]): number => {
    for (const buffer of buffers) output.write(stream, buffer)
    return buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0)
  }
  replaceProperty(patches, fsWrites, 'writev', (original) => {
    const writev = (...args: unknown[]): unknown => {
      const stream = streamOf(args[0])
      const callback = args.at(-1)
      if (stream === undefined || typeof callback !== 'function') return Reflect.apply(original, fs, args)
      process.nextTick(callback, null, writeAll(stream, args[1] as Uint8Array[]), args[1])
      return undefined
    }
    return writev
  })
  replaceProperty(patches, fsWrites, 'writevSync', (original) => (...args) => {
    const stream = streamOf(args[0])
    return stream === undefined ? Reflect.apply(original, fs, args) : writeAll(stream, args[1] as Uint8Array[])
  })
}

function patchWriteFile(output: Output, patches: DisposableStack): void {
  for (const method of ['writeFileSync', 'appendFileSync'] as const) {
    replaceProperty(patches, fsWrites, method, (original) => (...args) => {
      const stream = streamOf(args[0])
      if (stream === undefined) return Reflect.apply(original, fs, args)
      output.write(stream, args[1] as Chunk)
      return undefined
    })
  }
}

/**
 * `(fd, text, position?, encoding?)`, `(fd, buffer, offset?, length?)`, `(fd, buffer, { offset,
 * length })`.
 */
function chunkOf([, data, first, second]: unknown[]): Chunk {
  if (typeof data === 'string') return decode(data, typeof second === 'string' ? second : first)
  const view = data as DataView | Uint8Array
  const range = (typeof first === 'object' && first !== null ? first : { offset: first, length: second }) as Range
  const offset = typeof range.offset === 'number' ? range.offset : 0
  const length = typeof range.length === 'number' ? range.length : view.byteLength - offset
  return new Uint8Array(view.buffer, view.byteOffset + offset, length)
}

interface Range {
  offset?: unknown
  length?: unknown
}
