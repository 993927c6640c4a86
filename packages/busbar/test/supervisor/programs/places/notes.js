// Notes each of its starts in a folder.
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'

const where = `${process.pid}-${threadId}`
createServer(async (request, response) => {
  let size = 0
  for await (const chunk of request) size += chunk.length
  response.end(`${where} ${size}`)
}).listen(3000, () => writeFileSync(join(process.env.NOTES, where), ''))
