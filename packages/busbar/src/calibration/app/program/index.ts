import { createServer } from 'node:http'
import { cpuTime, payload } from '../payload.ts'

/** `/100` answers 100 characters; `/cpu/thread` and `/cpu/process` answer the processor time. */
createServer(({ url = '/' }, response) => {
  response.end(url.startsWith('/cpu/') ? `${cpuTime(url === '/cpu/process')}` : payload(Number(url.slice(1))))
}).listen(3000)
