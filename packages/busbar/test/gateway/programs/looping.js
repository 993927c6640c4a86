import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { threadId } from 'node:worker_threads'

const { LOOPS: loops, ENDS: ends } = process.env

/** POST /loop: loops from then on, until there is the file ENDS, and exits. */
createServer((request, response) => {
  const { url } = request
  if (url === '/loop') {
    response.end()
    setTimeout(() => {
      writeFileSync(loops, '')
      while (!existsSync(ends));
      process.exit(9)
    }, 20)
    return
  }
  let body = ''
  request.setEncoding('utf8').on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    console.log(`works on ${body}`)
    const answer = () => (existsSync(ends) ? response.end(`${threadId} ${body}`) : setTimeout(answer, 5))
    answer()
  })
}).listen(3000)
