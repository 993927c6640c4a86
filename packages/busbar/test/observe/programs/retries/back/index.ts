import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { note, released } from '../attempts.ts'

const instance = randomUUID()

createServer(async (req, res) => {
  const { pathname, searchParams } = new URL(req.url!, 'http://back')
  note(instance, searchParams.get('id')!)
  if (pathname === '/exit') process.exit(1)
  if (pathname === '/held') await released()
  res.end('ok')
}).listen(3000)
