/** What an arm answers before the load, which it must answer under load too. */
import type { LoadRequest } from '../engine/job.ts'
import { profileOf, withExpectations, type AnswerProfile } from './parity.ts'
import type { RunningArm } from './running-arm.ts'
import type { Work } from './slice.ts'

/** Answers that are compared: what differs between them is not checked later. */
const samples = 3

/** By request. Empty for a job, which would take too long, and whose request has the answer. */
export async function sampleAnswers(
  { runs, requests, timeoutMs }: Work,
  running: RunningArm,
): Promise<AnswerProfile[]> {
  if (runs !== undefined) return []
  const profiles = []
  for (const request of requests) {
    const answers = []
    for (let count = 0; count < samples; count++) answers.push(await running.ask(request, { timeoutMs }))
    profiles.push(profileOf(answers))
  }
  return profiles
}

/** The work that accepts only these answers. */
export function withAnswers(work: Work, answers: readonly AnswerProfile[]): Work {
  const [first, ...more] = work.requests
  const check = (request: LoadRequest, index: number): LoadRequest => {
    const answer = answers[index]
    return answer === undefined ? request : withExpectations(request, answer)
  }
  return { ...work, requests: [check(first, 0), ...more.map((request, index) => check(request, index + 1))] }
}
