import { mail } from './contract.ts'

const begun = new Map<string, number>()

export default mail.implement(({ client, log }) => ({
  send: async ({ id, failures, ...rest }, { delivery }) => {
    const count = (begun.get(id) ?? 0) + 1
    begun.set(id, count)
    log.info(`one: ${id} at ${delivery!.attempt} ${JSON.stringify(rest)}`)
    if (count <= failures) throw new Error('not now')
  },
  gone: ({ id }, { delivery }) => log.info(`one: ${id} at ${delivery!.attempt}`),
  load: async ({ prefix, count }) => {
    const post = client(mail)
    await Promise.all(Array.from({ length: count }, (_, at) => post.send.enqueue({ id: `${prefix}${at};` })))
  },
}))
