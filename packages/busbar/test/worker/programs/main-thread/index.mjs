import { createServer } from 'node:http'
import * as processNames from 'node:process'
import { createRequire } from 'node:module'
import threads, { isMainThread, parentPort, resourceLimits, threadId, threadName, workerData } from 'worker_threads'
import * as namespace from 'node:worker_threads'

const require = createRequire(import.meta.url)
const names = [
  'isInternalThread',
  'isMainThread',
  'parentPort',
  'resourceLimits',
  'threadId',
  'threadName',
  'workerData',
]
const { default: process } = processNames
const pick = (from) => Object.fromEntries(names.map((name) => [name, from[name] ?? null]))

const ofParent = ['send', 'connected', 'channel', 'disconnect']
const parent = () => ({
  values: ofParent.map((name) => typeof process[name]),
  listed: Object.keys(process).filter((name) => ofParent.includes(name)),
  env: process.env.NODE_CHANNEL_FD ?? null,
})

const atLoad = {
  named: { isMainThread, parentPort, resourceLimits, threadId, threadName, workerData },
  imported: pick(threads),
  namespace: pick(namespace),
  required: pick(require('worker_threads')),
  builtin: pick(process.getBuiltinModule('node:worker_threads')),
  parent: parent(),
  descriptors: [process.stdin.fd, process.stdout.fd, process.stderr.fd],
  parentNamed: ofParent.map((name) => typeof processNames[name]),
}

async function own() {
  const code = `
    const t = require('node:worker_threads')
    import('node:worker_threads').then((named) => t.parentPort.postMessage({
      isMainThread: t.isMainThread, named: named.isMainThread, hasPort: named.parentPort === t.parentPort,
      isThread: t.threadId > 0, data: named.workerData, name: t.threadName }))`
  const worker = new threads.Worker(code, { eval: true, workerData: { own: true }, name: 'own' })
  const [says] = await new Promise((resolve) => worker.once('message', (...args) => resolve(args)))
  await worker.terminate()
  return says
}

const server = createServer(async (request, response) => {
  const later = pick(await import('node:worker_threads'))
  response.end(JSON.stringify({ atLoad, later, parent: parent(), own: await own() }))
})
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
