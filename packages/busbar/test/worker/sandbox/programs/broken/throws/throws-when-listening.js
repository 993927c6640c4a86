import { createServer } from 'node:http'

createServer().listen(3000, () => {
  throw new Error('not ready')
})
