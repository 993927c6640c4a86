import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { BusbarError, type ErrorData } from '../errors.ts'
import { fromWire } from '../host/failures.ts'
import type { Method } from '../method.ts'
import { endOf, readJson, writeJson } from '../protobuf/well-known.ts'
import { fromBase64, toBase64 } from '../value/base64.ts'
import { fromTagged } from '../value/decode.ts'
import { toTaggedFor } from '../value/encode.ts'
import { decodeMessage, encodeMessage, grpcStatus, grpcStatusName, toErrorCode, toGrpcStatus } from './statuses.ts'

/** The trailers that end a call. */
export type StatusTrailers = Readonly<Record<string, string>>

export const okTrailers: StatusTrailers = { 'grpc-status': '0' }

const typeUrl = 'type.googleapis.com/'
/** Larger details would exceed the header limits of clients, and the call would look malformed. */
const maxDetails = 4096

/**
 * The status of a failed call. The details are a `google.rpc.Status`: an `ErrorInfo` with the code
 * of Busbar or of the contract, the fields of an invalid input as `BadRequest`, a time to wait as
 * `RetryInfo`, and the error's data as a `google.protobuf.Value`.
 */
export function toTrailers(error: BusbarError<string>): StatusTrailers {
  const status = toGrpcStatus(error)
  const trailers = { 'grpc-status': String(status), 'grpc-message': encodeMessage(error.message.slice(0, 1024)) }
  const details = statusBytes(status, error)
  const encoded = toBase64(details).replace(/=+$/, '')
  return encoded.length > maxDetails ? trailers : { ...trailers, 'grpc-status-details-bin': encoded }
}

function statusBytes(status: number, error: BusbarError<string>): Uint8Array {
  const writer = new BinaryWriter()
  writer.tag(1, WireType.Varint).int32(status)
  writer.tag(2, WireType.LengthDelimited).string(error.message.slice(0, 1024))
  for (const { type, bytes } of detailsOf(error)) {
    writer.tag(3, WireType.LengthDelimited).fork()
    writer.tag(1, WireType.LengthDelimited).string(typeUrl + type)
    writer.tag(2, WireType.LengthDelimited).bytes(bytes).join()
  }
  return writer.finish()
}

interface Detail {
  readonly type: string
  readonly bytes: Uint8Array
}

function detailsOf({ code, service, data }: BusbarError<string>): Detail[] {
  const details = [{ type: 'google.rpc.ErrorInfo', bytes: errorInfo(code, service) }]
  if (code === 'INPUT_INVALID' && isIssues(data))
    details.push({ type: 'google.rpc.BadRequest', bytes: badRequest(data) })
  const { retryAfter } = (data ?? {}) as { retryAfter?: unknown }
  if (typeof retryAfter === 'number') details.push({ type: 'google.rpc.RetryInfo', bytes: retryInfo(retryAfter) })
  if (data !== undefined) {
    const writer = new BinaryWriter()
    writeJson(toTaggedFor('json', data), writer)
    details.push({ type: 'google.protobuf.Value', bytes: writer.finish() })
  }
  return details
}

function errorInfo(code: string, service: string | undefined): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string(code)
  if (service !== undefined) writer.tag(2, WireType.LengthDelimited).string(service)
  return writer.finish()
}

function isIssues(data: unknown): data is ErrorData['INPUT_INVALID'] {
  return Array.isArray((data as Partial<ErrorData['INPUT_INVALID']> | undefined)?.issues)
}

function badRequest({ issues }: ErrorData['INPUT_INVALID']): Uint8Array {
  const writer = new BinaryWriter()
  for (const { path, message } of issues) {
    writer.tag(1, WireType.LengthDelimited).fork()
    writer.tag(1, WireType.LengthDelimited).string(path.join('.'))
    writer.tag(2, WireType.LengthDelimited).string(message).join()
  }
  return writer.finish()
}

function retryInfo(seconds: number): Uint8Array {
  const whole = Math.floor(seconds)
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).fork()
  writer.tag(1, WireType.Varint).int64(whole)
  writer.tag(2, WireType.Varint).int32(Math.round((seconds - whole) * 1_000_000_000))
  return writer.join().finish()
}

/** What a caller needs to restore an error. */
export interface StatusSource {
  readonly service: string
  readonly method: string
  readonly errors: Method['errors']
}

/** The error of a call by its trailers. Undefined for success. */
export function fromTrailers(
  trailers: Readonly<Record<string, unknown>>,
  { service, method, errors }: StatusSource,
): BusbarError<string> | undefined {
  const text = trailers['grpc-status']
  if (text === '0') return undefined
  const status = typeof text === 'string' && /^\d{1,3}$/.test(text) ? Number(text) : undefined
  if (status === undefined)
    return new BusbarError('ANSWER_MALFORMED', {
      message: `the answer to ${service}.${method} has no gRPC status`,
      service,
    })
  const given = trailers['grpc-message']
  const message =
    typeof given === 'string' && given !== ''
      ? decodeMessage(given)
      : `${service}.${method} failed with ${grpcStatusName(status)}`
  const { code, data } = readDetails(trailers['grpc-status-details-bin'])
  const known = code === undefined ? undefined : fromWire({ code, message, status: 0, data }, service, errors)
  return known ?? byStatus(status, message, { service, errors, data })
}

/** A service that is not Busbar's: a declared error with the same status, if there is just one. */
function byStatus(
  status: number,
  message: string,
  { service, errors, data }: Omit<StatusSource, 'method'> & { data: unknown },
): BusbarError<string> {
  const declared = Object.entries(errors).filter(
    ([, spec]) => toGrpcStatus({ code: '', status: spec.status, declared: true }) === status,
  )
  const [only] = declared
  const isPlain = status !== grpcStatus.INVALID_ARGUMENT && status !== grpcStatus.RESOURCE_EXHAUSTED
  if (only !== undefined && declared.length === 1 && isPlain)
    return new BusbarError<string>(only[0], { message, service, data }, only[1])
  return new BusbarError(toErrorCode(status), { message, service, data })
}

interface Details {
  readonly code?: string
  readonly data?: unknown
}

/** What cannot be read is ignored: details only add to a status. */
function readDetails(text: unknown): Details {
  const bytes = typeof text === 'string' ? fromBase64(padded(text)) : undefined
  if (bytes === undefined) return {}
  try {
    const found: { code?: string; data?: unknown } = {}
    for (const { type, bytes: value } of detailsIn(bytes)) {
      if (type === 'google.rpc.ErrorInfo') found.code = firstText(value)
      else if (type === 'google.protobuf.Value')
        found.data = fromTagged(readJson(new BinaryReader(value), value.length, 0))
    }
    return found
  } catch {
    return {}
  }
}

function padded(text: string): string {
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=')
}

function* detailsIn(bytes: Uint8Array): Generator<Detail> {
  for (const any of fieldsOf(bytes, 3)) {
    const [url] = fieldsOf(any, 1)
    const [value = new Uint8Array()] = fieldsOf(any, 2)
    if (url !== undefined) yield { type: new TextDecoder().decode(url).replace(/^.*\//, ''), bytes: value }
  }
}

function firstText(bytes: Uint8Array): string {
  const [text] = fieldsOf(bytes, 1)
  return new TextDecoder().decode(text)
}

function fieldsOf(bytes: Uint8Array, wanted: number): Uint8Array[] {
  const reader = new BinaryReader(bytes)
  const found: Uint8Array[] = []
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    if (number !== wanted || wireType !== WireType.LengthDelimited) reader.skip(wireType, number)
    else {
      const end = endOf(reader)
      found.push(bytes.subarray(reader.pos, end))
      reader.pos = end
    }
  }
  return found
}
