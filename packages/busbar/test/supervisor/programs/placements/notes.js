// Records each of its starts in a folder.
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { randomInt } from 'node:crypto'

/** Unique to this thread: for programs, every thread of Busbar is the main thread with ID 0. */
const threadKey = (globalThis.threadKey ??= randomInt(2 ** 32))

const where = `${process.pid}-${threadKey}`
createServer(async (request, response) => {
  let size = 0
  for await (const chunk of request) size += chunk.length
  response.end(`${where} ${size}`)
}).listen(3000, () => writeFileSync(join(process.env.NOTES, where), ''))
