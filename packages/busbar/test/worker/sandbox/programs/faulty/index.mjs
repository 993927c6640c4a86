import { createServer, get } from 'node:http'

if (process.env.HANDLES === 'exceptions') {
  process.on('uncaughtException', (error, origin) => console.log(`handled ${error.message} from ${origin}`))
}
if (process.env.HANDLES === 'rejections')
  process.on('unhandledRejection', (reason) => console.log('handled', reason.message))
if (process.env.HANDLES === 'badly') {
  process.on('uncaughtException', () => {
    throw new Error('handler broke')
  })
}
if (process.env.HANDLES === 'exiting') process.on('uncaughtException', () => process.exit(7))
process.on('exit', (code) => console.log(`exit handler of ${process.env.NAME}: ${code}`))

const deeds = {
  '/throw': () =>
    setTimeout(() => {
      throw new Error('on purpose')
    }, 1),
  '/reject': () => {
    Promise.reject(new Error('on purpose'))
  },
  '/exit': () => setTimeout(() => process.exit(5), 1),
  '/exit-code': () =>
    setTimeout(() => {
      process.exitCode = 6
      process.exit()
    }, 1),
  '/throw-now': () => {
    throw new Error('on purpose')
  },
  '/ask': () => get('http://two.internal/throw-now').on('error', () => {}),
  '/ask-badly': () =>
    get('http://two.internal/listeners', () => {
      throw new Error('on purpose')
    }),
  '/listeners': () => {},
}

createServer((req, res) => {
  deeds[req.url]?.()
  res.end(
    JSON.stringify({
      listeners: process.listenerCount('uncaughtException') + process.listeners('SIGTERM').length,
    }),
  )
}).listen(3000)
