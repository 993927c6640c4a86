/** Native methods where the engine has them; Node 24 only has `Buffer`, which browsers lack. */
interface NativeBase64 {
  toBase64?(): string
}
interface NativeBytes {
  fromBase64?(text: string): Uint8Array
}
interface NodeBuffer {
  from(bytes: ArrayBufferLike, offset: number, length: number): { toString(encoding: 'base64'): string }
  from(text: string, encoding: 'base64'): Uint8Array
}

const { Buffer } = globalThis as { Buffer?: NodeBuffer }

export function toBase64(bytes: Uint8Array): string {
  if (Buffer !== undefined) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  const native = bytes as NativeBase64
  if (native.toBase64 !== undefined) return native.toBase64()
  let text = ''
  // In chunks: the arguments of a call are on the stack.
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return btoa(text)
}

/** Undefined for invalid base64 (RFC 4648, 4). The bytes get their own buffer. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined
  if (Buffer !== undefined) return new Uint8Array(Buffer.from(text, 'base64'))
  const native = Uint8Array as NativeBytes
  if (native.fromBase64 !== undefined) return native.fromBase64(text)
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
