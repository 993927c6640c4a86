import type { CallHead } from '../link.ts'
import { ProtocolError } from '../packet-transport.ts'

/** What a callee can send. `head`: a reply that is not the last of the answer. */
type AnswerFrame = 'reply' | 'head' | 'data' | 'end'

const faults = {
  reply: 'sent a reply to a stream',
  head: 'sent the beginning of a reply to a typed call',
  data: 'sent a value of a stream to a call',
  end: 'ended a call that it has not answered',
} as const satisfies Record<AnswerFrame, string>

/** The frames of HTTP requests are checked by their handlers. */
const whole = ['head', 'data', 'end'] as const
const refused: Readonly<Record<CallHead['kind'], readonly AnswerFrame[]>> = {
  call: whole,
  event: whole,
  stream: ['reply', 'head'],
  http: [],
  bytes: [],
}

/**
 * Throws {@link ProtocolError} if the peer may not send this to a call that it answers. The caller
 * would not notice it, and wait for its deadline.
 */
export function checkAnswer({ id, head }: { readonly id: number; readonly head: CallHead }, frame: AnswerFrame): void {
  if (id > 0 && refused[head.kind].includes(frame)) throw new ProtocolError(faults[frame])
}
