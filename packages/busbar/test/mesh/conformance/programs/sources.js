import { Readable } from 'node:stream'

export function failingSource() {
  return Readable.from(failingChunks())
}

async function* failingChunks() {
  yield 'part'
  await new Promise(setImmediate)
  throw new Error('the source failed')
}
