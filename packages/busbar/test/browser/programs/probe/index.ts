import { probe } from './contract.ts'

const moments = new Map<string, PromiseWithResolvers<string>>()

function moment(name: string): PromiseWithResolvers<string> {
  if (!moments.has(name)) moments.set(name, Promise.withResolvers())
  return moments.get(name)!
}

/** Runs in a worker and, without a change, in the page itself. */
export default probe.implement({
  add: ({ a, b }) => a + b,
  echo: (input) => input,
  product: ({ id }, { fail }) => (id === 1 ? { id, name: 'lamp' } : fail('NOT_FOUND', { id })),
  label: ({ text }) => text,
  async *count({ to }) {
    for (let at = 1; at <= to; at++) yield at
  },
  async *endless({ name }) {
    try {
      for (let at = 1; ; at++) yield at
    } finally {
      moment(`${name} left`).resolve(`${name} was left`)
    }
  },
  hang: ({ name }, { signal }) => {
    signal.addEventListener('abort', () => moment(`${name} left`).resolve((signal.reason as { code: string }).code))
    moment(`${name} began`).resolve('')
    return new Promise(() => {})
  },
  began: async ({ name }) => void (await moment(`${name} began`).promise),
  left: ({ name }) => moment(`${name} left`).promise,
  caller: (_, { metadata }) => ({ language: metadata['x-language'] }),
})
