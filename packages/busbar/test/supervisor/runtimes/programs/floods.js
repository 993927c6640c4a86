// Prints numbered lines in one loop, and reports the memory that it cost.
import { createServer } from 'node:http'

createServer((request, response) => {
  const lines = Number(new URL(request.url, 'http://any').searchParams.get('lines'))
  const before = process.memoryUsage.rss()
  for (let line = 0; line < lines; line++) console.log(`${line} ${'x'.repeat(90)}`)
  response.end(String(process.memoryUsage.rss() - before))
}).listen(process.env.PORT ?? 3000)
