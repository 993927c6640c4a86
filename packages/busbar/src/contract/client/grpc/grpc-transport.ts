import type { CallOptions } from '../../call/call-types.ts'
import { type Contract } from '../../contract.ts'
import { BusbarError } from '../../errors.ts'
import { frame, formatTimeout } from '../../grpc/framing.ts'
import { framing } from '../../header-syntax.ts'
import { inputInvalid, toInputInvalid } from '../../host/failures.ts'
import { iteratorOf } from '../../host/input-stream.ts'
import type { Method } from '../../method.ts'
import { type Codec, Codecs } from '../../protobuf/codec.ts'
import { fullServiceName, type ProtoFile } from '../../protobuf/model.ts'
import { toProtoFile } from '../../protobuf/proto-file.ts'
import type { ValibotConverter } from '../../openapi/json-schema.ts'
import { refusal } from '../../call/call-options.ts'
import { HttpCall } from '../http/http-call.ts'
import { RetryBudget, withRetries } from '../http/retry.ts'
import type { CallTransport } from '../transport.ts'
import { AnswerReader } from './answer-reader.ts'
import { answerStream } from './answer-stream.ts'
import type { GrpcAddress, GrpcClientOptions } from './grpc-options.ts'
import { sendValues } from './send-values.ts'
import { GrpcSession } from './session.ts'

/** The protobuf form of a contract, made once. */
const known = new WeakMap<Contract, Promise<ProtoContract>>()

interface ProtoContract {
  readonly file: ProtoFile
  readonly codecs: Codecs
}

export function grpcTransport(address: GrpcAddress, options: GrpcClientOptions): CallTransport {
  const session = new GrpcSession(address, options.tls)
  const budget = new RetryBudget(options.retryBudget)
  return {
    bind(contract, name, method) {
      const remote = new RemoteMethod(session, contract, name, method!)
      if (method!.kind === 'stream') return (input, own) => remote.stream(input, own ?? {})
      const times = method!.idempotent && method!.takesMany !== true ? (options.retries ?? 2) : 0
      return (input, own) => remote.call(input, own ?? {}, { times, budget })
    },
    close: () => session.close(),
  }
}

function protoOf(contract: Contract): Promise<ProtoContract> {
  let found = known.get(contract)
  if (found === undefined) {
    found = toProto(contract)
    known.set(contract, found)
  }
  return found
}

async function toProto(contract: Contract): Promise<ProtoContract> {
  const file = toProtoFile(contract, { lock: contract.protoLock, valibot: await valibotConverter(contract) })
  return { file, codecs: new Codecs(file.messages) }
}

/**
 * Only for contracts with schemas of Valibot. The name is a variable, so that bundlers leave it.
 */
async function valibotConverter({ methods }: Contract): Promise<ValibotConverter | undefined> {
  const schemas = Object.values(methods).flatMap(({ input, output }) => [input, output])
  if (!schemas.some((schema) => schema?.['~standard'].vendor === 'valibot')) return undefined
  const name = '@valibot/to-json-schema'
  const found = (await import(name).catch(() => ({}))) as { toJsonSchema?: ValibotConverter }
  return found.toJsonSchema
}

/** One message, or the values of a caller that sends many. */
type Body = Uint8Array | AsyncIterator<unknown> | Iterator<unknown>

interface Prepared {
  readonly path: string
  readonly request: Codec
  readonly response: Codec
  readonly hasInput: boolean
  readonly hasOutput: boolean
}

class RemoteMethod {
  readonly #session: GrpcSession
  readonly #contract: Contract
  readonly #method: Method
  readonly #callee: { readonly service: string; readonly method: string; readonly errors: Method['errors'] }
  #prepared: Promise<Prepared> | undefined

  constructor(session: GrpcSession, contract: Contract, name: string, method: Method) {
    this.#session = session
    this.#contract = contract
    this.#method = method
    this.#callee = { service: contract.name, method: name, errors: method.errors }
  }

  async call(input: unknown, options: CallOptions, retry: { times: number; budget: RetryBudget }): Promise<unknown> {
    const call = this.#callOf(options)
    try {
      const prepared = await (this.#prepared ??= this.#prepare())
      const body = this.#encode(prepared, input)
      const attempt = async (): Promise<unknown> => {
        try {
          return await call.within(this.#ask(prepared, body, call, options))
        } catch (thrown) {
          throw call.failure(thrown)
        }
      }
      return await withRetries(attempt, { ...retry, signal: call.signal })
    } finally {
      call.settle()
    }
  }

  stream(input: unknown, options: CallOptions): AsyncIterableIterator<unknown> {
    return answerStream(() => {
      const call = this.#callOf(options)
      return { call, reader: this.#open(input, call, options) }
    })
  }

  async #open(input: unknown, call: HttpCall, options: CallOptions): Promise<AnswerReader> {
    const prepared = await (this.#prepared ??= this.#prepare())
    return await this.#send(prepared, this.#encode(prepared, input), call, options)
  }

  async #ask(prepared: Prepared, body: Body, call: HttpCall, options: CallOptions): Promise<unknown> {
    const reader = await this.#send(prepared, body, call, options)
    const first = await reader.next()
    const second = first.done === true ? first : await reader.next()
    if (first.done === true || second.done !== true) {
      reader.cancel()
      throw reader.malformed(first.done === true ? 'it has no message' : 'it has more than one message')
    }
    return prepared.hasOutput ? first.value : undefined
  }

  async #send(prepared: Prepared, body: Body, call: HttpCall, options: CallOptions): Promise<AnswerReader> {
    const headers: Record<string, string> = {
      ...this.#metadata(options.metadata),
      ':method': 'POST',
      ':path': prepared.path,
      'content-type': 'application/grpc',
      'grpc-accept-encoding': 'identity,gzip,deflate',
      te: 'trailers',
    }
    if (call.deadline !== Infinity) headers['grpc-timeout'] = formatTimeout(call.timeLeft)
    const reset = new AbortController()
    const stream = await this.#session.request(headers, this.#callee.service, reset.signal)
    const reader = new AnswerReader({ stream, reset }, this.#callee, prepared.response, call.deadline)
    const cancel = (): void => reader.cancel()
    call.connection.addEventListener('abort', cancel, { once: true })
    stream.once('close', () => call.connection.removeEventListener('abort', cancel))
    if (call.connection.aborted) cancel()
    else if (body instanceof Uint8Array) stream.end(body)
    else void sendValues(body, stream, (value) => this.#encodeOne(prepared, value), reader)
    return reader
  }

  /** The method's own timeout holds here too: the service enforces it, but the network does not. */
  #callOf(options: CallOptions): HttpCall {
    const { timeout = this.#method.timeout } = options
    const callee = { ...this.#callee, decode: () => undefined }
    return new HttpCall(callee, { ...options, ...(timeout !== undefined && { timeout }) })
  }

  async #prepare(): Promise<Prepared> {
    const { file, codecs } = await protoOf(this.#contract)
    const rpc = file.methods.find(({ method }) => method === this.#callee.method)
    if (rpc === undefined)
      throw new BusbarError('CONTRACT_INVALID', {
        message: `${this.#contract.name} has no method ${this.#callee.method}`,
      })
    return {
      path: `/${fullServiceName(file)}/${rpc.name}`,
      request: codecs.of(rpc.request),
      response: codecs.of(rpc.response),
      hasInput: rpc.hasInput,
      hasOutput: rpc.hasOutput,
    }
  }

  #encode(prepared: Prepared, input: unknown): Body {
    if (this.#method.takesMany !== true) return frame(this.#encodeOne(prepared, prepared.hasInput ? input : undefined))
    const values = iteratorOf(input)
    if (values !== undefined) return values
    throw inputInvalid(this.#callee, [{ path: [], message: 'it is not iterable' }])
  }

  #encodeOne({ request }: Prepared, value: unknown): Uint8Array {
    try {
      return request.encode(value)
    } catch (error) {
      throw toInputInvalid(this.#callee, error)
    }
  }

  #metadata(metadata: CallOptions['metadata'] = {}): Record<string, string> {
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(metadata)) {
      const lower = name.toLowerCase()
      if (own.has(lower) || lower.startsWith('grpc-'))
        throw refusal(this.#callee, ['metadata', name], 'over gRPC the client sets this header itself')
      headers[lower] = value
    }
    return headers
  }
}

const own: ReadonlySet<string> = new Set([...framing, 'content-type', 'expect', 'host'])
