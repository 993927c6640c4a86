import type { PassThrough } from 'node:stream'

/** What a command has written. From Node 26 on, `read()` returns one piece at a time. */
export function written(stream: PassThrough): string {
  let text = ''
  for (let piece = stream.read() as Buffer | null; piece !== null; piece = stream.read() as Buffer | null)
    text += piece.toString()
  return text
}
