import { BusbarError, type InContext, type Interceptor } from 'busbar/contract'

const users = new Map([['Bearer ada', { name: 'ada' }]])

/** Calls from outside say who they are; services are trusted. */
const signedIn: Interceptor<{ user: { name: string } | undefined }> = async ({ context }, next) => {
  const user = users.get(context.metadata['authorization'] ?? '')
  if (user === undefined && context.caller === undefined)
    throw new BusbarError('UNAUTHENTICATED', { message: 'sign in first' })
  context.setHeader('x-user', user?.name ?? 'nobody')
  return await next({ user })
}

export class Transaction {
  readonly written: string[] = []

  write(line: string): void {
    this.written.push(line)
  }
}

/** What was committed, by everybody. */
export const committed: string[] = []

/** All that a call writes, or nothing of it. */
const inTransaction: Interceptor<{ transaction: Transaction }> = async (_call, next) => {
  const transaction = new Transaction()
  const result = await next({ transaction })
  committed.push(...transaction.written)
  return result
}

const interceptors = [signedIn, inTransaction] as const
export type InApp = InContext<typeof interceptors>
export default interceptors
