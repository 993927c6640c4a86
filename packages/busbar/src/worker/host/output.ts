import fs from 'node:fs'
import type { LogRecord } from '../../shared/control.ts'
import { isWarning } from '../../shared/stderr-level.ts'
import { Lines } from '../../shared/lines.ts'
import { replace } from '../../shared/replace.ts'
import type { Programs } from './programs.ts'

type Stream = 'stdout' | 'stderr'
type Chunk = string | Uint8Array

/** Where the output of this worker's programs goes. */
export interface Output {
  write(stream: Stream, chunk: Chunk): void
  /** Emits unfinished lines: of one service, or all. */
  flush(service?: string): void
}

/** Turns everything that this thread's programs print into records that say whose they are. */
export class RecordedOutput implements Output {
  readonly #programs: Programs
  readonly #log: (record: LogRecord) => void
  readonly #lines = new Map<string, Lines>()
  /** Of what is being written; undefined where it depends on the line. */
  #level: LogRecord['level'] | undefined

  constructor(programs: Programs, log: (record: LogRecord) => void) {
    this.#programs = programs
    this.#log = log
  }

  write(stream: Stream, chunk: Chunk): void {
    // Node writes a warning at once, whatever lines it has.
    this.#level = stream === 'stderr' && typeof chunk === 'string' && isWarning(chunk) ? 'warn' : undefined
    this.#linesOf(this.#programs.suspect?.service.name, stream).push(chunk)
    this.#level = undefined
  }

  flush(service?: string): void {
    for (const [key, lines] of this.#lines) if (service === undefined || key.endsWith(` ${service}`)) lines.flush()
  }

  #linesOf(service: string | undefined, stream: Stream): Lines {
    const key = `${stream} ${service ?? ''}`
    let lines = this.#lines.get(key)
    if (lines === undefined) {
      lines = new Lines((line) =>
        this.#log({
          time: Date.now(),
          level: this.#level ?? levelOf(line) ?? levels[stream],
          service,
          stream,
          line,
        }),
      )
      this.#lines.set(key, lines)
    }
    return lines
  }
}

/**
 * `console` and streams reach the thread's `process.stdout`; pino's destination, which Fastify logs to, writes to the
 * descriptor with `fs` and would pass it by.
 */
export function patchOutput(output: Output, patches: DisposableStack): void {
  patchStream(output, patches, 'stdout')
  patchStream(output, patches, 'stderr')
  nameDescriptors(patches)
  patchWrite(output, patches)
  patchWriteSync(output, patches)
  patchWritev(output, patches)
  patchWriteFile(output, patches)
}

const levels = { stdout: 'info', stderr: 'error' } as const

/** What pino and its like put first. */
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

function bytesOf(data: Chunk, encoding: unknown): Chunk {
  const isText = typeof data !== 'string' || encoding === undefined || encoding === 'utf8' || encoding === 'utf-8'
  if (isText) return data
  return typeof encoding === 'string' && Buffer.isEncoding(encoding) ? Buffer.from(data, encoding) : data
}

function patchStream(output: Output, patches: DisposableStack, stream: Stream): void {
  const callbacks = new Callbacks()
  const target = process[stream] as { write(...args: unknown[]): boolean }
  replace(patches, target, 'write', () => (chunk, ...rest) => {
    output.write(stream, bytesOf(chunk as Chunk, rest[0]))
    const done = rest.find((argument) => typeof argument === 'function') as (() => void) | undefined
    if (done !== undefined) callbacks.add(done)
    return true
  })
}

/** `fs.writeSync(process.stdout.fd, …)`: the streams of a thread have no `fd`, and `fs` throws where it is given none. */
function nameDescriptors(patches: DisposableStack): void {
  for (const [fd, name] of (['stdin', 'stdout', 'stderr'] as const).entries()) {
    const stream: { fd?: number } = process[name]
    if (stream.fd !== undefined) continue
    stream.fd = fd
    patches.defer(() => delete stream.fd)
  }
}

/**
 * Callbacks of writes, to be called when the program's own code has ended. `console` gives each line the same one: a loop
 * that prints a million lines would keep a million ticks.
 */
class Callbacks {
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

// The overloads of `fs` are many; what matters of them is the descriptor in front and the callback at the end.
type Writing = Record<
  'write' | 'writeSync' | 'writev' | 'writevSync' | 'writeFileSync' | 'appendFileSync',
  (...args: unknown[]) => unknown
>
const writing = fs as unknown as Writing

function patchWrite(output: Output, patches: DisposableStack): void {
  replace(patches, writing, 'write', (original) => {
    const write = (...args: unknown[]): unknown => {
      const stream = streamOf(args[0])
      const done = args.at(-1)
      if (stream === undefined || typeof done !== 'function') return Reflect.apply(original, fs, args)
      const part = partOf(args)
      output.write(stream, part)
      process.nextTick(done, null, Buffer.byteLength(part), args[1])
      return undefined
    }
    return write
  })
}

function patchWriteSync(output: Output, patches: DisposableStack): void {
  replace(patches, writing, 'writeSync', (original) => (...args) => {
    const stream = streamOf(args[0])
    if (stream === undefined) return Reflect.apply(original, fs, args)
    const part = partOf(args)
    output.write(stream, part)
    return Buffer.byteLength(part)
  })
}

function patchWritev(output: Output, patches: DisposableStack): void {
  const all = (stream: Stream, buffers: Uint8Array[]): number => {
    for (const buffer of buffers) output.write(stream, buffer)
    return buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0)
  }
  replace(patches, writing, 'writev', (original) => {
    const writev = (...args: unknown[]): unknown => {
      const stream = streamOf(args[0])
      const done = args.at(-1)
      if (stream === undefined || typeof done !== 'function') return Reflect.apply(original, fs, args)
      process.nextTick(done, null, all(stream, args[1] as Uint8Array[]), args[1])
      return undefined
    }
    return writev
  })
  replace(patches, writing, 'writevSync', (original) => (...args) => {
    const stream = streamOf(args[0])
    return stream === undefined ? Reflect.apply(original, fs, args) : all(stream, args[1] as Uint8Array[])
  })
}

function patchWriteFile(output: Output, patches: DisposableStack): void {
  for (const method of ['writeFileSync', 'appendFileSync'] as const) {
    replace(patches, writing, method, (original) => (...args) => {
      const stream = streamOf(args[0])
      if (stream === undefined) return Reflect.apply(original, fs, args)
      output.write(stream, args[1] as Chunk)
      return undefined
    })
  }
}

/** `(fd, text, position?, encoding?)`, `(fd, buffer, offset?, length?)` or `(fd, buffer, { offset, length })`. */
function partOf([, data, first, second]: unknown[]): Chunk {
  if (typeof data === 'string') return bytesOf(data, typeof second === 'string' ? second : first)
  const view = data as DataView | Uint8Array
  const place = (typeof first === 'object' && first !== null ? first : { offset: first, length: second }) as Place
  const offset = typeof place.offset === 'number' ? place.offset : 0
  const length = typeof place.length === 'number' ? place.length : view.byteLength - offset
  return new Uint8Array(view.buffer, view.byteOffset + offset, length)
}

interface Place {
  offset?: unknown
  length?: unknown
}
