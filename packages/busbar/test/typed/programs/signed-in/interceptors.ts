import { BusbarError, type InContext, type Interceptor } from 'busbar/contract'

const users = new Map([['Bearer ada', { name: 'ada' }]])

/** Callers from outside must sign in; calls between services are trusted. */
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

/** The committed lines of all calls. */
export const committed: string[] = []

/** Commits all lines of a call, or none if it fails. */
const inTransaction: Interceptor<{ transaction: Transaction }> = async (_call, next) => {
  const transaction = new Transaction()
  const result = await next({ transaction })
  committed.push(...transaction.written)
  return result
}

const interceptors = [signedIn, inTransaction] as const
export type InApp = InContext<typeof interceptors>
export default interceptors
