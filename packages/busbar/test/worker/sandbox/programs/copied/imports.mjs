import { createServer } from 'node:http'

createServer(async (_, res) => {
  const said = await import('./legacy.cjs').catch((error) => error)
  res.end(JSON.stringify(said.message ?? 'loaded'))
}).listen(3000)
