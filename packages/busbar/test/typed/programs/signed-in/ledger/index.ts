import type { Interceptor } from 'busbar/contract'
import type { InApp } from '../interceptors.ts'
import { ledger } from './contract.ts'

/** A service's own interceptors run inside those of the app, and see their context. */
const counted: Interceptor<{ lines: number }> = async ({ context }, next) =>
  await next({ lines: (context as unknown as InApp).transaction.written.length })

export default ledger
  .expects<InApp>()
  .use(counted)
  .implement({ entry: ({ text }, { caller, user, lines }) => `${text} for ${caller ?? user?.name}, ${lines}` })
