// Makes one call by each client. Resolves to the response or the error of each.
import { createRequire } from 'node:module'
import http from 'node:http'
import net from 'node:net'
import { text } from 'node:stream/consumers'

const require = createRequire(import.meta.url)

const clients = {
  fetch: async (url) => await (await fetch(url)).text(),
  undici6: async (url) => await (await require('undici6').request(url)).body.text(),
  undici8: async (url) => await (await require('undici8').request(url)).body.text(),
  'undici8 Pool': async (url) => {
    const pool = new (require('undici8').Pool)(new URL(url).origin)
    const answer = await (await pool.request({ path: new URL(url).pathname, method: 'GET' })).body.text()
    await pool.close()
    return answer
  },
  'node:http': (url) => get(url, {}),
  'node:http, headers as a list': (url) => get(url, { headers: ['Host', new URL(url).host] }),
  axios: async (url) => JSON.stringify((await require('axios').get(url)).data),
  got: async (url) => (await (await import('got')).got(url)).body,
  'node:net': async (url) => {
    const { hostname, pathname } = new URL(url)
    const socket = net.connect(80, hostname, () =>
      socket.write(`GET ${pathname} HTTP/1.0\r\nHost: ${hostname}\r\n\r\n`),
    )
    return (await text(socket)).split('\r\n\r\n')[1]
  },
}

/** `only`: the names of the clients; all by default. */
export async function callAll(url, only = Object.keys(clients)) {
  const answers = {}
  for (const name of only) {
    const call = clients[name]
    try {
      answers[name] = JSON.parse(await call(url))
    } catch (error) {
      answers[name] = (error.cause ?? error).message
    }
  }
  answers.ws = await echo(url).catch((error) => error.message)
  return answers
}

function get(url, options) {
  return new Promise((resolve, reject) => {
    http.get(url, options, (response) => text(response).then(resolve, reject)).on('error', reject)
  })
}

function echo(url) {
  return new Promise((resolve, reject) => {
    const socket = new (require('ws').WebSocket)(url.replace('http', 'ws'))
    socket.on('open', () => socket.send('hello'))
    socket.on('message', (message) => {
      resolve(JSON.parse(String(message)))
      socket.close()
    })
    socket.on('error', reject)
  })
}
