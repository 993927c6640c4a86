// The example in Node's documentation of `worker_threads`, in a server.
const { createServer } = require('node:http')
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')

if (isMainThread) {
  const parseJSAsync = (script) =>
    new Promise((resolve, reject) => {
      const worker = new Worker(__filename, { workerData: script })
      worker.on('message', resolve)
      worker.on('error', reject)
      worker.on('exit', (code) => {
        if (code !== 0) reject(new Error(`Worker stopped with exit code ${code}`))
      })
    })
  const server = createServer(async (_, response) => response.end(await parseJSAsync('the script')))
  server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
} else {
  parentPort.postMessage(`parsed ${workerData}`)
}
