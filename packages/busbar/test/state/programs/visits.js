import http from 'node:http'
import { randomInt } from 'node:crypto'
import { offload, shared } from 'busbar'

/** Of this thread alone: to what it hosts, every thread of Busbar's is a main thread with the number 0. */
const threadKey = (globalThis.threadKey ??= randomInt(2 ** 32))

/** Counts its requests together with all others of its name, and has some of it done elsewhere. */
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
