import { mail } from './contract.ts'

/** A handler of an event that calls a program. */
export default mail.subscribe({ send: mail.topics.placed }).implement({
  send: async ({ id }) => void (await (await fetch(`http://back.internal/${id}`)).text()),
})
