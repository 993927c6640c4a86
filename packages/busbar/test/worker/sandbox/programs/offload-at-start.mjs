// As ROLE says: creates the thread's pool of threads, or listens when its own task is done.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { offload } from 'busbar'

const task = new URL('slow-task.mjs', import.meta.url)
const listen = () => createServer((_request, response) => response.end('listens')).listen(process.env.PORT ?? 3001)
const roles = {
  async first() {
    await offload(task, 0)
    listen()
  },
  async last() {
    await sleep(500)
    await offload(task, 3000)
    listen()
  },
}
void roles[process.env.ROLE]()
