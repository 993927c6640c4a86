// Notes each of its starts in a folder.
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { randomInt } from 'node:crypto'

/** Of this thread alone: to what it hosts, every thread of Busbar's is a main thread with the number 0. */
const threadKey = (globalThis.threadKey ??= randomInt(2 ** 32))

const where = `${process.pid}-${threadKey}`
createServer(async (request, response) => {
  let size = 0
  for await (const chunk of request) size += chunk.length
  response.end(`${where} ${size}`)
}).listen(3000, () => writeFileSync(join(process.env.NOTES, where), ''))
