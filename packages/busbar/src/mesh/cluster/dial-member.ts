import { BusbarError } from '../../contract/errors.ts'
import type { NatsConnection } from '../../shared/cluster/connection.ts'
import type { ClusterSubjects } from '../../shared/cluster/subjects.ts'
import { callerGreeting, type HostHello } from '../hosts/host-hello.ts'
import { helloTimeout } from '../links/limits.ts'
import type { HandshakeResult } from '../transports/socket.ts'
import { encodeDial, readDial } from './dial-message.ts'
import type { LinkEnds } from './link-ends.ts'

export interface DialMemberOptions {
  readonly connection: NatsConnection
  readonly subjects: ClusterSubjects
  readonly ends: LinkEnds
  /** The id of the host. */
  readonly host: string
  /** The name of this app. */
  readonly app: string
  readonly signal: AbortSignal
}

/** Asks a host for a link. Rejects with LINK_LOST if none of its workers accepts. */
export async function dialMember(options: DialMemberOptions): Promise<HandshakeResult<HostHello>> {
  const { connection, subjects, ends, host, app, signal } = options
  const greeting = callerGreeting(app)
  const end = ends.create()
  try {
    const request = encodeDial({ hello: greeting.own.text, end: end.address, maxMessage: ends.maxMessage })
    const answer = await connection.request(subjects.dial(host), request, { timeout: helloTimeout })
    const dial = readDial(answer.string())
    const peer = greeting.read({ text: dial.hello, bytes: [] })
    if (dial.end === '') throw new Error('refuses links')
    if (signal.aborted) throw new Error('is no longer dialled')
    end.connect(dial.end, dial.maxMessage)
    return { transport: end.transport, peer }
  } catch (cause) {
    end.transport.close()
    throw new BusbarError('LINK_LOST', { message: explain(cause as Error), cause })
  }
}

/** The client's errors have names, and messages for its developers. */
function explain({ name, message }: Error): string {
  if (name === 'NoRespondersError') return 'none of its workers accepts links'
  if (name === 'TimeoutError') return `no answer within ${helloTimeout / 1000} s`
  return message
}
