// Throws if the file in its environment exists.
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { randomInt } from 'node:crypto'

const thread = randomInt(2 ** 32)
if (existsSync(process.env.FAIL_IF)) throw new Error('the file exists')
createServer((_, response) => response.end(JSON.stringify({ thread }))).listen(3000)
