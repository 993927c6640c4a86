// As ROLE says: holds a lock for a while, waits for it in the background, or listens with it.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { shared } from 'busbar'

const lock = shared.mutex('at-start')
const listen = () => createServer((_request, response) => response.end('listens')).listen(process.env.PORT ?? 3001)
const roles = {
  async holder() {
    const held = await lock.lock()
    listen()
    await sleep(4000)
    held.release()
  },
  async background() {
    listen()
    using _held = await lock.lock()
  },
  async last() {
    await sleep(500)
    using _held = await lock.lock(process.env.SIGNAL ? { signal: new AbortController().signal } : {})
    listen()
  },
}
void roles[process.env.ROLE]()
