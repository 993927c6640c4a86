/** Runs code that it receives; `shared` is what users import, and `kept` lasts between messages. */
import { parentPort } from 'node:worker_threads'
import { shared } from '../../../src/state/shared.ts'

const AsyncFunction = (async () => {}).constructor
const kept = {}
parentPort.on('message', async ({ id, code }) => {
  try {
    parentPort.postMessage({ id, value: await new AsyncFunction('shared', 'kept', code)(shared, kept) })
  } catch (error) {
    parentPort.postMessage({ id, error: { code: error.code, message: error.message, hint: error.hint } })
  }
})
