import { promisify } from 'node:util'
import { deflate, gunzip, gunzipSync, gzip, inflate, inflateSync } from 'node:zlib'
import { FramingError } from '../../contract/grpc/framing.ts'

export type Encoding = 'identity' | 'gzip' | 'deflate'

/** For `grpc-accept-encoding`. */
export const acceptedEncodings = 'identity,gzip,deflate'

/** Undefined for an encoding that is not supported. */
export function encodingOf(field: string | undefined): Encoding | undefined {
  if (field === undefined || field === 'identity') return 'identity'
  return field === 'gzip' || field === 'deflate' ? field : undefined
}

/** Smaller messages are expanded at once: the way to another thread costs more. */
const expandedAtOnce = 16 * 1024

/** Throws or rejects with {@link FramingError}, also for a message that would become too large. */
export function decompress(
  bytes: Uint8Array,
  encoding: Encoding,
  maxOutputLength: number,
): Uint8Array | Promise<Uint8Array> {
  if (encoding === 'identity')
    throw new FramingError('malformed', 'a message is compressed, and grpc-encoding does not say how')
  const isGzip = encoding === 'gzip'
  if (bytes.length > expandedAtOnce)
    return promisify(isGzip ? gunzip : inflate)(bytes, { maxOutputLength }).catch((error: unknown) => {
      throw toFramingError(error, maxOutputLength)
    })
  try {
    return isGzip ? gunzipSync(bytes, { maxOutputLength }) : inflateSync(bytes, { maxOutputLength })
  } catch (error) {
    throw toFramingError(error, maxOutputLength)
  }
}

export async function compress(bytes: Uint8Array, encoding: 'gzip' | 'deflate'): Promise<Uint8Array> {
  return await promisify(encoding === 'gzip' ? gzip : deflate)(bytes)
}

function toFramingError(error: unknown, limit: number): FramingError {
  const { code, message } = error as { code?: string; message: string }
  if (code === 'ERR_BUFFER_TOO_LARGE')
    return new FramingError('too-large', `a message has more than ${limit} bytes when it is expanded`)
  return new FramingError('malformed', `a compressed message cannot be expanded: ${message}`)
}
