// Asks the other service with every client there is, and answers what came of each.
import axios from 'axios'
import got from 'got'
import { once } from 'node:events'
import http, { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { request } from 'undici'
import { WebSocket } from 'ws'

const at = 'http://api.internal'
const upload = 'upload '.repeat(50_000)

const clients = {
  fetch: async (path, body) => {
    const response = await fetch(at + path, body && { method: 'POST', body })
    return [response.status, await response.text()]
  },
  undici: async (path, body) => {
    const response = await request(at + path, body && { method: 'POST', body })
    return [response.statusCode, await response.body.text()]
  },
  http: async (path, body) => {
    const outgoing = http.request(at + path, { method: body ? 'POST' : 'GET' }).end(body)
    const [response] = await once(outgoing, 'response')
    return [response.statusCode, await text(response), response.trailers]
  },
  axios: async (path, body) => {
    const options = { url: at + path, method: body ? 'POST' : 'GET', data: body, validateStatus: () => true }
    const { status, data } = await axios({ ...options, responseType: 'text', transformResponse: (data) => data })
    return [status, data]
  },
  got: async (path, body) => {
    const options = { method: body ? 'POST' : 'GET', body, throwHttpErrors: false, retry: { limit: 0 } }
    const { statusCode, body: answer } = await got(at + path, options)
    return [statusCode, answer]
  },
}

async function outcome(call) {
  try {
    const [status, body, ...rest] = await call
    return [status, body.length, body.slice(0, 60), ...rest]
  } catch (error) {
    return `${error.name} ${(error.cause ?? error).code}`
  }
}

async function echo() {
  const socket = new WebSocket('ws://api.internal/')
  await once(socket, 'open')
  const words = []
  for (const word of ['one', 'x'.repeat(200_000)]) {
    socket.send(word)
    words.push(String(await once(socket, 'message')).length)
  }
  socket.close()
  await once(socket, 'close')
  return words
}

async function askAll() {
  const all = { ws: await echo() }
  for (const [name, client] of Object.entries(clients)) {
    all[name] = {}
    for (const path of ['/stream', '/large', '/half', '/none', '/nowhere'])
      all[name][path] = await outcome(client(path))
    all[name].upload = await outcome(client('/hash', upload))
  }
  return all
}

createServer((_request, response) => {
  void askAll().then((all) => response.end(JSON.stringify(all)))
}).listen(3000)
