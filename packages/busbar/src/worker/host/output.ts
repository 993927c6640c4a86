import fs from 'node:fs'
import type { LogRecord } from '../../shared/control.ts'
import { Lines } from './lines.ts'
import { replace } from './patch.ts'
import type { Programs } from './programs.ts'

type Stream = 'stdout' | 'stderr'
type Chunk = string | Uint8Array

/** Turns everything that this thread's programs print into records that say whose they are. */
export class Output {
  readonly #programs: Programs
  readonly #log: (record: LogRecord) => void
  readonly #lines = new Map<string, Lines>()

  constructor(programs: Programs, log: (record: LogRecord) => void) {
    this.#programs = programs
    this.#log = log
  }

  write(stream: Stream, chunk: Chunk): void {
    this.#linesOf(this.#programs.suspect?.service.name, stream).push(chunk)
  }

  /** Says unfinished lines: of one service, or all. */
  flush(service?: string): void {
    for (const [key, lines] of this.#lines) if (service === undefined || key.endsWith(` ${service}`)) lines.flush()
  }

  #linesOf(service: string | undefined, stream: Stream): Lines {
    const key = `${stream} ${service ?? ''}`
    let lines = this.#lines.get(key)
    if (lines === undefined) {
      lines = new Lines((line) =>
        this.#log({ time: Date.now(), level: levelOf(line) ?? levels[stream], service, stream, line }),
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
  const target = process[stream] as { write(...args: unknown[]): boolean }
  replace(patches, target, 'write', () => (chunk, ...rest) => {
    output.write(stream, bytesOf(chunk as Chunk, rest[0]))
    const done = rest.find((argument) => typeof argument === 'function') as (() => void) | undefined
    if (done !== undefined) process.nextTick(done)
    return true
  })
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
    return resembling(write, original)
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
    return resembling(writev, original)
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

/** `util.promisify` asks a function of `fs` for the names of its results, by a symbol. */
function resembling<F extends (...args: unknown[]) => unknown>(replacement: F, original: object): F {
  return Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(original))
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
