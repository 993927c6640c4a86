import { answerConnections } from './bytes/answer.ts'
import { answerRequests } from './http/answer.ts'
import type { Answerer } from './links/link.ts'
import type { HttpMesh } from './mesh.ts'
import { answerCalls, type AnsweringMesh } from './typed/answer.ts'

/** What a worker does with whatever comes over its links: each kind of call has an answerer of its own. */
export function answerAll(mesh: HttpMesh & AnsweringMesh): Answerer {
  const calls = answerCalls(mesh)
  const answerers = { call: calls, stream: calls, http: answerRequests(mesh), bytes: answerConnections(mesh) }
  return (head, payload, ended, channel) => answerers[head.kind](head, payload, ended, channel)
}
