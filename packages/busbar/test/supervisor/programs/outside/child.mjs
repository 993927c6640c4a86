// Calls by name from its own process or thread, and reports the responses.
import { isMainThread, parentPort } from 'node:worker_threads'
import { callAll } from './calls.mjs'

const { OWN = null, NODE_OPTIONS = '' } = process.env
const answers = await callAll(
  'http://catalog.internal/item',
  process.argv[2] === 'all' ? undefined : ['fetch', 'node:http'],
)
const said = {
  answers,
  own: OWN,
  titled: globalThis.TITLED === true,
  nodeOptions: NODE_OPTIONS,
  execArgv: process.execArgv,
}
if (!isMainThread) parentPort.postMessage(said)
else if (process.send !== undefined) process.send(said, () => process.exit())
else console.log(JSON.stringify(said))
