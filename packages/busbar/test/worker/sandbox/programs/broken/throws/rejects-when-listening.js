import { createServer } from 'node:http'

createServer().listen(3000, async () => {
  throw new Error('not ready')
})
