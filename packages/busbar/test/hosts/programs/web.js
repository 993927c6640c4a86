import { createServer, get, request as open } from 'node:http'

/** A program that calls a service of another app by its name, in the ways that clients have. */
const ways = {
  async fetch(path, { method, body }) {
    const response = await fetch(`http://stock.internal${path}`, { method, ...(body.length > 0 && { body }) })
    return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
  },
  async http(path, { method, body }) {
    return await new Promise((resolve, reject) => {
      const call = open(`http://stock.internal${path}`, { method }, async (response) => {
        const pieces = []
        try {
          for await (const piece of response) pieces.push(piece)
        } catch (error) {
          return reject(error)
        }
        const text = Buffer.concat(pieces).toString()
        resolve({ status: response.statusCode, headers: response.headers, trailers: response.trailers, body: text })
      })
      call.on('error', reject).end(body)
    })
  },
  /** Over a connection of its own, so that each call may get to another instance. */
  async alone(path, options) {
    return await new Promise((resolve, reject) => {
      const call = get(`http://stock.internal${path}`, { agent: false, ...options }, async (response) => {
        const pieces = []
        for await (const piece of response) pieces.push(piece)
        resolve({ status: response.statusCode, body: Buffer.concat(pieces).toString() })
      })
      call.on('error', reject)
    })
  },
  /** By a client that accepts larger heads than Node's own limit. */
  raised: (path) => ways.alone(path, { maxHeaderSize: 65_536, method: 'GET' }),
  async size(path) {
    let size = 0
    for await (const piece of (await fetch(`http://stock.internal${path}`)).body) size += piece.length
    return { size }
  },
  async abort(path) {
    return await new Promise((resolve) => {
      const call = get(`http://stock.internal${path}`, (response) => {
        response.once('data', () => {
          call.destroy()
          resolve({ aborted: true })
        })
      })
      call.on('error', () => {})
    })
  },
  async socket() {
    const socket = new WebSocket('ws://stock.internal/socket')
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', () => reject(new Error('the WebSocket failed')))
    })
    socket.send('hello')
    const { data } = await new Promise((resolve) => socket.addEventListener('message', resolve))
    socket.close()
    await new Promise((resolve) => socket.addEventListener('close', resolve))
    return { data }
  },
}

createServer(async (request, response) => {
  const [, way, ...path] = request.url.split('/')
  const body = []
  for await (const piece of request) body.push(piece)
  try {
    const answer = await ways[way](`/${path.join('/')}`, { method: request.method, body: Buffer.concat(body) })
    response.end(JSON.stringify(answer))
  } catch (error) {
    const { message, code, cause } = error
    response.writeHead(502).end(JSON.stringify({ message, code, cause: cause?.message, causeCode: cause?.code }))
  }
}).listen(3000)
