import http from 'node:http'
import { randomInt } from 'node:crypto'
import { offload, shared } from 'busbar'

/** Identifies this thread: programs see every thread of Busbar as a main thread with the id 0. */
const threadKey = (globalThis.threadKey ??= randomInt(2 ** 32))

/** Counts requests together with all instances, and runs part of the work by `offload`. */
http
  .createServer(async (request, response) => {
    try {
      shared.counter('visits').add()
      const elsewhere =
        request.url === '/offload' ? await offload(new URL('./double.js', import.meta.url), 21) : undefined
      response.end(JSON.stringify({ visits: shared.counter('visits').value, thread: threadKey, elsewhere }))
    } catch ({ code, message }) {
      response.end(JSON.stringify({ code, message }))
    }
  })
  .listen(0)
