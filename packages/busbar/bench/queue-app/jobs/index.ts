import { jobs } from './contract.ts'

let count = 0
let wanted: { readonly count: number; readonly resolve: () => void } | undefined

function look(): void {
  if (wanted === undefined || count < wanted.count) return
  wanted.resolve()
  count -= wanted.count
  wanted = undefined
}

export default jobs.implement({
  run: async () => {
    count++
    look()
  },
  ran: async (some) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    wanted = { count: some, resolve }
    look()
    await promise
  },
})
