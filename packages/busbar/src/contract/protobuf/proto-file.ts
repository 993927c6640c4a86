import type { Contract } from '../contract.ts'
import type { Method } from '../method.ts'
import { Describer } from '../openapi/describer.ts'
import type { Converters } from '../openapi/json-schema.ts'
import { literalKeywords } from '../openapi/references.ts'
import type { JsonSchema } from '../openapi/types.ts'
import { checkMethods, numbered } from './lock.ts'
import type { ProtoLock } from './lock-types.ts'
import { MessageBuilder } from './message-builder.ts'
import type { ProtoFile, Rpc } from './model.ts'
import { protoInvalid, protoNamesOf, toTypeName } from './names.ts'

export interface ProtoOptions extends Converters {
  /** Undefined: every field gets its number by its position. */
  readonly lock?: ProtoLock | undefined
}

/**
 * The protobuf form of a contract. Throws PROTO_INCOMPATIBLE if it contradicts the lock, and
 * CONTRACT_INVALID if two methods would have one name.
 */
export function toProtoFile(contract: Contract, { lock, ...converters }: ProtoOptions = {}): ProtoFile {
  const describer = new Describer(converters, withoutClosing)
  const names = protoNamesOf(contract)
  const builder = new MessageBuilder(describer, [names.service])
  const methods = Object.entries(contract.methods).map(([name, method]) => toRpc(builder, name, method))
  checkNames(contract.name, methods)
  const messages = [...builder.messages.values()].map((draft) => numbered(draft, lock, contract.name))
  const file: ProtoFile = {
    ...names,
    methods,
    messages: new Map(messages.map((message) => [message.name, message])),
    docs: contract.docs,
    notes: describer.notes.map((note) =>
      note.replace('the document accepts any value there', 'it is a google.protobuf.Value'),
    ),
  }
  if (lock !== undefined) checkMethods(file, lock, contract.name)
  return file
}

/**
 * Libraries say of results that they have no other fields, and not of inputs. In protobuf both are
 * one message.
 */
function withoutClosing(part: JsonSchema): JsonSchema {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key, inner]) => key !== 'additionalProperties' || inner !== false)
        .map(([key, inner]) => [key, literalKeywords.has(key) ? inner : walk(inner)]),
    )
  }
  return walk(part) as JsonSchema
}

function toRpc(builder: MessageBuilder, method: string, spec: Method): Rpc {
  const name = spec.grpc ?? toTypeName(method)
  return {
    name,
    method,
    hasInput: spec.input !== undefined,
    hasOutput: spec.output !== undefined,
    request: builder.add(spec.input, 'input', `${name}Request`),
    response: builder.add(spec.output, 'output', `${name}Response`),
    clientStreams: spec.takesMany === true,
    serverStreams: spec.kind === 'stream',
    docs: spec.docs,
  }
}

function checkNames(service: string, methods: readonly Rpc[]): void {
  const taken = new Map<string, string>()
  for (const { name, method } of methods) {
    const other = taken.get(name)
    if (other !== undefined)
      throw protoInvalid(
        service,
        `${service}.${other} and ${service}.${method} are both ${name} in gRPC`,
        "Give one of them another name: fn({ grpc: '…' }).",
      )
    taken.set(name, method)
  }
}
