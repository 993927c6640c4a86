/** `WORKERS` threads that each listen on the same port: the kernel's hash spreads connections over them. */
import { Worker } from 'node:worker_threads'

for (let worker = 0; worker < Number(process.env['WORKERS'] ?? 1); worker++)
  new Worker(new URL('./hello.ts', import.meta.url), { env: { ...process.env, REUSE_PORT: '1' } })
