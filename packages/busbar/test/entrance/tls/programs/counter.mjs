// Answers with the number of requests so far.
import { createServer } from 'node:http'

let count = 0
createServer((request, response) => response.end(String(++count))).listen(process.env.PORT ?? 3000)
