// Listens when what WAITS names is over, and has nothing else open until then.
import { execFile } from 'node:child_process'
import { pbkdf2, randomBytes, subtle } from 'node:crypto'
import { openAsBlob, readFile } from 'node:fs'
import { lookup } from 'node:dns'
import { createServer } from 'node:http'
import { brotliCompress, createBrotliCompress } from 'node:zlib'

const bytes = randomBytes(400_000)

/** With a body of `length` instructions in each of its functions. */
function largeModule(functions = 2000, length = 4000) {
  const body = [0, ...Array(length).fill([0x41, 1, 0x1a]).flat(), 0x0b]
  const code = Buffer.from([...leb128(body.length), ...body])
  const section = (id, ...content) => {
    const bytes = Buffer.concat([Buffer.from(leb128(functions)), ...content])
    return Buffer.concat([Buffer.from([id, ...leb128(bytes.length)]), bytes])
  }
  const header = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
  const type = [1, 4, 1, 0x60, 0, 0]
  const bodies = Array(functions).fill(code)
  return Buffer.concat([Buffer.from([...header, ...type]), section(3, Buffer.alloc(functions)), section(10, ...bodies)])
}

function leb128(value) {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb128(value >> 7)]
}

const waits = {
  zlib: (done) => brotliCompress(bytes, done),
  'a stream of zlib': (done) => createBrotliCompress().resume().on('end', done).end(bytes),
  crypto: (done) => pbkdf2('text', 'salt', 300_000, 64, 'sha512', done),
  WebCrypto: (done) =>
    void subtle
      .generateKey({ name: 'HMAC', hash: 'SHA-512' }, true, ['sign'])
      .then(() => subtle.digest('SHA-512', bytes))
      .then(done),
  dns: (done) => lookup('localhost', done),
  fs: (done) => readFile(import.meta.filename, done),
  WebAssembly: (done) => void WebAssembly.compile(largeModule()).then(done),
  'a Blob of a file': (done) =>
    void openAsBlob(process.execPath)
      .then((file) => file.arrayBuffer())
      .then(done),
  'a child process': (done) => execFile(process.execPath, ['--version'], done),
}
waits[process.env.WAITS](() =>
  createServer((_request, response) => response.end('listens')).listen(process.env.PORT ?? 3001),
)
