import { createServer } from 'node:http'

const delay = Number(process.env.DELAY ?? 0)
createServer((_, res) => res.end(JSON.stringify({ port: 9090 }))).listen(9090)
setTimeout(() => {
  createServer((_, res) => res.end(JSON.stringify({ port: 3000 }))).listen(3000, () => console.log('main is up'))
}, delay)
if (delay === 0) await new Promise((done) => setTimeout(done, 20))
