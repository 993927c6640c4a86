// Calls the others, and cuts the sockets under this worker's links when it is told to,
// which no program should.
import { createServer } from 'node:http'
import { Socket } from 'node:net'
import { client } from 'busbar/client'
import { ledger } from '../ledger/contract.ts'

const isLink = (one) => one instanceof Socket && one._handle?.constructor.name === 'Pipe' && one._handle.fd > 2

const { read, write, counts } = client(ledger)
const pages = async (path, method) => await (await fetch(`http://pages.internal${path}`, { method })).text()

const answers = {
  read: () => read(),
  write: () => write(),
  GET: () => pages('/', 'GET'),
  POST: () => pages('/', 'POST'),
  counts: async () => ({ ...(await counts()), ...JSON.parse(await pages('/counts', 'GET')) }),
  cut: () => {
    const links = process._getActiveHandles().filter(isLink)
    for (const link of links) link.destroy()
    return links.length
  },
}

/** The words of undici and fetch are around ours. */
const innermost = (error) => (error.cause === undefined ? error : innermost(error.cause))

createServer(async (request, response) => {
  try {
    response.end(JSON.stringify({ value: await answers[request.url.slice(1)]() }))
  } catch (error) {
    const { code, message } = innermost(error)
    response.end(JSON.stringify({ code, message }))
  }
}).listen(3000)
