// Listens when what WAITS names is over, and has nothing else open until then.
import { execFile } from 'node:child_process'
import { pbkdf2, randomBytes, subtle } from 'node:crypto'
import { readFile } from 'node:fs'
import { lookup } from 'node:dns'
import { createServer } from 'node:http'
import { brotliCompress, createBrotliCompress } from 'node:zlib'

const bytes = randomBytes(400_000)
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
  'a child process': (done) => execFile(process.execPath, ['--version'], done),
}
waits[process.env.WAITS](() =>
  createServer((_request, response) => response.end('listens')).listen(process.env.PORT ?? 3001),
)
