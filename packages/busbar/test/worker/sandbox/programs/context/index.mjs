import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'
import { Worker } from 'node:worker_threads'

const storage = new AsyncLocalStorage()
storage.enterWith('of the program')
createServer((req, res) => {
  if (req.url === '/thread') new Worker('console.log("from a thread")', { eval: true }).on('exit', () => res.end('{}'))
  else res.end(JSON.stringify({ store: storage.getStore(), name: process.env.NAME }))
}).listen(3000)
