// Counts its requests, and never answers those that it should hold. It runs in one process.
import { createServer } from 'node:http'

let count = 0

createServer((request, response) => {
  if (request.url !== '/count') count++
  if (request.url !== '/hold') return response.end(String(count))
  console.log('holds')
}).listen(3000)
