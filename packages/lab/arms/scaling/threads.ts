/** `WORKERS` threads that listen on the same port. The kernel distributes connections by a hash. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

const env = { ...process.env, REUSE_PORT: '1' }
const threads = Array.from(
  { length: Number(process.env['WORKERS'] ?? 1) },
  () => new Worker(new URL(`hello${extname(import.meta.url)}`, import.meta.url), { env }),
)
for (const thread of threads) thread.on('error', (error) => console.error(error))
