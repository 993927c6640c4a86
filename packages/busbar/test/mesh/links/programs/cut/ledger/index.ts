import { ledger } from './contract.ts'

const counts = { read: 0, write: 0 }

/** Whoever comes first waits for ever. */
async function begin(method: keyof typeof counts): Promise<string> {
  if (++counts[method] > 1) return 'done'
  console.log(`holds ${method}`)
  return await new Promise(() => {})
}

export default ledger.implement({ read: () => begin('read'), write: () => begin('write'), counts: () => counts })
