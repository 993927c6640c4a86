// Counts what it is asked for; what it is told to hold it never answers. All its answers are counted in one process.
import { createServer } from 'node:http'

let count = 0

createServer((request, response) => {
  if (request.url !== '/count') count++
  if (request.url !== '/hold') return response.end(String(count))
  console.log('holds')
}).listen(3000)
