/** Preloaded into every test file, not into the threads and processes that it starts. */
import { isMainThread } from 'node:worker_threads'

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  await import('./leak-check.ts')
  await import('./packed-workers.ts')
  // `node:test` has read it. A process that a test starts must not run as a test file.
  delete process.env['NODE_TEST_CONTEXT']
}
