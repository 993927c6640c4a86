import { appendFileSync } from 'node:fs'
import { mail } from './contract.ts'

const gate = Promise.withResolvers<void>()

export default mail.implement(({ log }) => ({
  send: async ({ to, at, amount, file }, { delivery, caller, metadata }) => {
    // The log of an app that is killed may lack its last lines.
    if (file !== undefined) appendFileSync(file, `${to}\n`)
    const rest = [at instanceof Date, typeof amount, caller ?? 'nobody', metadata['x-reason'] ?? 'none']
    log.info(`sent ${to} ${JSON.stringify(delivery)} ${rest.join(' ')}`)
  },
  flaky: async ({ failures, as }, { delivery, fail }) => {
    const { id, attempt } = delivery!
    if (attempt > failures) return log.info(`flaky ${id} done at ${attempt}`)
    log.info(`flaky ${id} fails at ${attempt}`)
    if (as === 'declared') fail('GONE', 'away')
    throw new Error('not now')
  },
  crash: async (_, { delivery }) => {
    log.info(`crash ${delivery!.id} at ${delivery!.attempt}`)
    if (delivery!.attempt === 1) process.exit(3)
  },
  slow: async (name) => {
    log.info(`slow ${name} begins`)
    await gate.promise
    log.info(`slow ${name} ends`)
  },
  release: async () => gate.resolve(),
  ping: async (_, { delivery }) => delivery === undefined,
}))
