import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire'
import { compileReader, type ReadMessage } from './read-message.ts'
import type { Message } from './model.ts'
import { compileWriter, type WriteMessage } from './write-message.ts'
import { SerialisationError } from '../value/serialisable.ts'
import { MalformedMessage } from './well-known.ts'

/** Converts the values of one message type to bytes and back. */
export interface Codec {
  /**
   * Throws {@link SerialisationError} for a value that the message cannot hold. `room`: bytes to
   * leave before the message, which are 0.
   */
  encode(value: unknown, room?: number): Uint8Array
  /**
   * Throws {@link MalformedMessage} for bytes that are not protobuf, and {@link SerialisationError}
   * for a value that calls do not carry. `start`: of the message. The value has no part of `bytes`.
   */
  decode(bytes: Uint8Array, start?: number): unknown
}

/**
 * The codecs of all messages of a file. A closure per field instead of generated code: contracts
 * are known only at run time, and no code is made of text.
 */
export class Codecs {
  readonly #messages: ReadonlyMap<string, Message>
  readonly #writers = new Map<string, WriteMessage>()
  readonly #readers = new Map<string, ReadMessage>()

  constructor(messages: ReadonlyMap<string, Message>) {
    this.#messages = messages
  }

  of(name: string): Codec {
    const message = this.#message(name)
    const write = this.#writer(name)
    const read = this.#reader(name)
    const [only] = message.wraps === true ? message.fields : []
    const messageOf = (value: unknown): unknown => (only === undefined ? (value ?? {}) : { [only.key]: value })
    return {
      encode: (value, room = 0) => encoded(write, messageOf(value), room),
      decode(bytes, start = 0) {
        const value = decoded(read, bytes, start) as Record<string, unknown>
        return only === undefined ? value : value[only.key]
      },
    }
  }

  #message(name: string): Message {
    const message = this.#messages.get(name)
    if (message === undefined) throw new RangeError(`there is no message ${name}`)
    return message
  }

  /** Looked up when it is first used: messages may contain themselves. */
  #writer(name: string): WriteMessage {
    let writer = this.#writers.get(name)
    if (writer === undefined) {
      writer = compileWriter(this.#message(name), (inner) => this.#writer(inner))
      this.#writers.set(name, writer)
    }
    return writer
  }

  #reader(name: string): ReadMessage {
    let reader = this.#readers.get(name)
    if (reader === undefined) {
      reader = compileReader(this.#message(name), (inner) => this.#reader(inner))
      this.#readers.set(name, reader)
    }
    return reader
  }
}

/** Between messages. A new one would begin without memory, and grow. */
let idle: BinaryWriter | undefined

/** Bytes. A writer of larger messages would keep their memory. */
const largestKept = 64 * 1024

/** A getter of the value may encode another message. A writer that has failed is not used again. */
function encoded(write: WriteMessage, value: unknown, room: number): Uint8Array {
  const writer = idle ?? new BinaryWriter()
  idle = undefined
  for (let at = 0; at < room; at++) writer.uint32(0)
  write(value, writer, 0)
  const bytes = writer.finish()
  if (bytes.length <= largestKept) idle = writer
  return bytes
}

function decoded(read: ReadMessage, bytes: Uint8Array, start: number): unknown {
  const reader = new BinaryReader(bytes)
  reader.pos = start
  try {
    const value = read(reader, bytes.length, 0)
    if (reader.pos === bytes.length) return value
  } catch (error) {
    if (error instanceof MalformedMessage || error instanceof SerialisationError) throw error
    throw new MalformedMessage((error as Error).message)
  }
  throw new MalformedMessage('a field is longer than the message that contains it')
}
