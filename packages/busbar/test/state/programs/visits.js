import http from 'node:http'
import { threadId } from 'node:worker_threads'
import { offload, shared } from 'busbar'

/** Counts its requests together with all others of its name, and has some of it done elsewhere. */
http
  .createServer(async (request, response) => {
    try {
      shared.counter('visits').add()
      const elsewhere =
        request.url === '/offload' ? await offload(new URL('./double.js', import.meta.url), 21) : undefined
      response.end(JSON.stringify({ visits: shared.counter('visits').value, thread: threadId, elsewhere }))
    } catch ({ code, message }) {
      response.end(JSON.stringify({ code, message }))
    }
  })
  .listen(0)
