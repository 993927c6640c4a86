import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

async function main() {
  await sleep(30)
  await new Promise((resolve) => setImmediate(resolve))
  createServer((_, res) => res.end(JSON.stringify({ hello: 'late-listen' }))).listen(3000, 'localhost')
}
void main()
