// Makes Node print warnings, the first with a detail and the hint at the end; then throws.
import { createServer } from 'node:http'

process.emitWarning('a warning\nof two lines', { code: 'TWO', detail: 'with a detail\nof two lines' })
createServer((request, response) => {
  console.error('an error\n    at its stack')
  response.end()
}).listen(process.env.PORT ?? 3000)
