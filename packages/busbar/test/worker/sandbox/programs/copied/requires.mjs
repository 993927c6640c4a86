import { createServer } from 'node:http'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

createServer((_, res) => {
  try {
    require('./state.mjs')
    res.end('"loaded"')
  } catch (error) {
    res.end(JSON.stringify(error.message))
  }
}).listen(3000)
