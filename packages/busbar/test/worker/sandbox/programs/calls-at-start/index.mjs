// Asks another service for its settings before it listens, by the client in CLIENT.
import { createServer, get } from 'node:http'
import { text } from 'node:stream/consumers'
import { client } from 'busbar/client'
import { settings } from './settings/contract.ts'

const url = 'http://slow.internal/'
const clients = {
  typed: () => client(settings).read(),
  fetch: async () => await (await fetch(url)).text(),
  undici: async () => await (await (await import('undici')).request(url)).body.text(),
  http: () => new Promise((resolve, reject) => get(url, (response) => resolve(text(response))).on('error', reject)),
}

// Its module is evaluated before the response is there.
clients[process.env.CLIENT]().then((found) => {
  createServer((_request, response) => response.end(found)).listen(process.env.PORT ?? 3001)
})
