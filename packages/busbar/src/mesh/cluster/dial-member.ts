import { BusbarError } from '../../contract/errors.ts'
import type { NatsConnection } from '../../shared/cluster/connection.ts'
import type { ClusterSubjects } from '../../shared/cluster/subjects.ts'
import { callerGreeting, type HostHello } from '../hosts/host-hello.ts'
import { helloTimeout } from '../links/limits/limits.ts'
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
  /** Whether the host has announced itself a moment ago. */
  readonly isFresh: () => boolean
}

/** The name of the client's error for a subject that nobody has subscribed to. */
const noResponders = 'NoResponders'

type Answer = Awaited<ReturnType<NatsConnection['request']>>

/**
 * A host may announce itself a moment before NATS knows that its workers take links. Milliseconds
 * until it is asked again, and how often.
 */
const [askAgain, repeats] = [100, 5]

/** Asks a host for a link. Rejects with LINK_LOST if none of its workers accepts. */
export async function dialMember(options: DialMemberOptions): Promise<HandshakeResult<HostHello>> {
  const { ends, app, signal } = options
  const greeting = callerGreeting(app)
  const end = ends.create()
  try {
    const request = encodeDial({ hello: greeting.own.text, end: end.address, maxMessage: ends.maxMessage })
    const answer = await ask(request, options)
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

async function ask(request: string, options: DialMemberOptions): Promise<Answer> {
  const { connection, subjects, host, signal, isFresh } = options
  for (let failures = 0; ; failures++) {
    try {
      return await connection.request(subjects.dial(host), request, { timeout: helloTimeout })
    } catch (error) {
      const mayAnswer = nameOf(error as Error) === noResponders && !signal.aborted && isFresh()
      if (!mayAnswer || failures === repeats) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, askAgain).unref())
  }
}

/** The client's errors have names, and messages for its developers. */
function explain(error: Error): string {
  const name = nameOf(error)
  if (name === noResponders) return 'none of its workers accepts links'
  if (name === 'InvalidArgumentError') return 'what this app says of itself is larger than max_payload of NATS'
  if (name === 'TimeoutError') return `no answer within ${helloTimeout / 1000} s`
  return error.message
}

/** The client wraps the error that says why a request has failed. */
function nameOf({ name, cause }: Error): string {
  return name === 'RequestError' && cause instanceof Error ? cause.name : name
}
