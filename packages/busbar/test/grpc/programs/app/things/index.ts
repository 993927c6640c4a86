import { setTimeout as sleep } from 'node:timers/promises'
import { things } from './contract.ts'

export default things.implement(() => {
  let cancelled = 0
  const onCancel = () => void cancelled++
  return {
    echo: (thing) => thing,
    find: ({ id }, { fail }) => (id === 'busy' ? fail('BUSY') : id === 'none' ? fail('NOT_FOUND', { id }) : { id }),
    context: (_, { metadata, timeLeft }) => ({ metadata: { ...metadata }, timeLeft: Math.min(timeLeft, 1e9) }),
    async slow({ ms }, { signal }) {
      signal.addEventListener('abort', onCancel)
      await sleep(ms, undefined, { signal })
      return ['done']
    },
    busy({ ms }) {
      for (const end = performance.now() + ms; performance.now() < end;);
    },
    breaks() {
      throw new Error('secret')
    },
    async *numbers({ to, size = 0 }, { signal }) {
      signal.addEventListener('abort', onCancel)
      for (let n = 1; n <= to; n++) {
        yield { n, pad: 'x'.repeat(size) }
      }
    },
    async sum(values) {
      let [total, count] = [0, 0]
      for await (const { n } of values) {
        total += n
        count++
      }
      return { total, count }
    },
    async first(values) {
      for await (const { n } of values) return n
      return -1
    },
    async *doubled(values, { signal }) {
      signal.addEventListener('abort', onCancel)
      for await (const { n } of values) yield { n: n * 2 }
    },
    cancels: () => cancelled,
    dies: () => void process.exit(1),
  }
})
