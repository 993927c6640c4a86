import { answerRequests } from './http/answer.ts'
import type { Answerer } from './links/link.ts'
import type { HttpMesh } from './mesh.ts'
import { answerCalls, type AnsweringMesh } from './typed/answer.ts'

/** What a worker does with whatever comes over its links: each kind of call has an answerer of its own. */
export function answerAll(mesh: HttpMesh & AnsweringMesh): Answerer {
  const calls = answerCalls(mesh)
  const answerers = {
    call: calls,
    stream: calls,
    http: answerRequests(mesh),
    bytes: mesh.streams?.answer(mesh) ?? refuse,
  }
  return (head, payload, ended, channel) => answerers[head.kind](head, payload, ended, channel)
}

/** Of connections, where nothing makes them: no worker of this app opens one then. */
const refuse: Answerer = ({ service }, _payload, _isWhole, channel) => {
  const error = {
    code: 'SERVICE_UNAVAILABLE',
    message: 'this worker takes no connections over links',
    service,
  } as const
  channel.fail(error, true)
  return {}
}
