// A plain server. The path of a request says what to do to its thread.
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { randomInt } from 'node:crypto'

/** Unique to this thread: for programs, every thread of Busbar is the main thread with ID 0. */
const threadKey = (globalThis.threadKey ??= randomInt(2 ** 32))

const actions = {
  '/': () => ({ thread: threadKey, cwd: process.cwd() }),
  '/process': () => ({
    pid: process.pid,
    cwd: process.cwd(),
    colour: process.env.COLOUR,
    send: typeof process.send,
  }),
  '/flags': () => process.execArgv,
  '/may-read': (query) => {
    try {
      return readFileSync(query.get('file')).length > 0
    } catch (error) {
      return error.code === 'ERR_ACCESS_DENIED' ? false : error.code
    }
  },
  // For `ms` milliseconds, or until the file `until` exists.
  '/busy': (query) => {
    const end = performance.now() + Number(query.get('ms') ?? 60_000)
    while (performance.now() < end && !(query.has('until') && existsSync(query.get('until'))));
    return { thread: threadKey }
  },
  '/later': async (query) => {
    await new Promise((resolve) => setTimeout(resolve, Number(query.get('ms'))))
    return { thread: threadKey }
  },
  '/never': () => new Promise(() => {}),
  '/exit': () => process.exit(7),
  '/throw': () =>
    new Promise(() =>
      setImmediate(() => {
        throw new Error('thrown on purpose')
      }),
    ),
  '/reject': () => new Promise(() => void Promise.reject(new Error('rejected on purpose'))),
  '/abort': () => process.abort(),
  '/kill': () => void process.kill(process.pid, 'SIGKILL'),
  '/loop': () => {
    for (;;);
  },
  '/read': (query) => void readFileSync(query.get('file')),
  '/wait': () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  '/memory': () => new Promise(() => growMemory(setImmediate)),
  '/memory-in-steps': () => new Promise(() => growMemory((grow) => setTimeout(grow, 1))),
}

/** Keeps ever more objects. `pause` calls its argument later. */
function growMemory(pause) {
  const kept = []
  const grow = () => {
    for (let i = 0; i < 1000; i++) kept.push({ [`key${kept.length}`]: Array.from({ length: 100 }, () => ({})) })
    pause(grow)
  }
  grow()
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://any')
  console.log(`begins ${pathname}`)
  const body = await actions[pathname](searchParams)
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
})
server.httpAllowHalfOpen = true
server.listen(3000)
