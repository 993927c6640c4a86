/** A program that leaves the answer to others. With `MARK`, it starts only once. */
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const { MARK } = process.env
if (MARK !== undefined) {
  if (existsSync(MARK)) throw new Error('only once')
  writeFileSync(MARK, '')
}

let left = 0

createServer((req, res) => {
  const wanted = req.url.slice(1)
  if (wanted === 'reads') req.resume().on('end', () => res.end('read'))
  else if (wanted === 'hangs-up') req.socket.destroy()
  else if (wanted === 'gives-up') {
    req.resume().on('error', () => res.destroy())
    res.on('close', () => left++)
    res.writeEarlyHints({ link: '</a.css>; rel=preload' })
  } else if (wanted === 'left') res.end(String(left))
  else if (wanted === 'exits') process.exit(1)
  else if (wanted !== 'silent') res.writeHead(Number(wanted) || 200).end(wanted)
}).listen(Number(process.env.PORT ?? 0))
