// The body is shorter than its content-length.
import { serve } from './serve.js'

serve((_, res) => {
  res.writeHead(200, { 'content-length': 100 })
  res.write('{"service":"node3"}', () => res.destroy())
})
