/** One of the two processes of an arm. `measure.ts` forks it. */
import { arms, type Measure, type Setup } from './arms.ts'

export type Order =
  | { readonly serve: string; readonly setup: Setup }
  | { readonly open: string; readonly setup: Setup; readonly port: number }
  | { readonly measure: number }

let measure: Measure | undefined

process.on('message', (order: Order) => void carryOut(order).then((result) => process.send!(result)))

async function carryOut(order: Order): Promise<number> {
  if ('serve' in order) return await arms[order.serve]!.serve(order.setup)
  if ('measure' in order) return await measure!(order.measure)
  measure = await arms[order.open]!.open(order.setup, order.port)
  return 0
}
