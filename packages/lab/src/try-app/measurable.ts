import type { ComparedRequest, TriedRequest } from './tried-app.ts'

export interface Measurable {
  readonly requests: readonly TriedRequest[]
  /** Why there are none, where the answers do not show it. */
  readonly why?: string
}

interface Answered {
  readonly requests: readonly TriedRequest[]
  readonly entry: string
  /** Of each arm that runs, by request. */
  readonly answers: readonly (readonly ComparedRequest[])[]
}

const useOthers = 'Give paths that the entry has, by --path or --requests'

/** Requests to the entry that all arms answer alike. */
export function measurable({ requests, entry, answers }: Answered): Measurable {
  if (answers.length === 0) return { requests: [] }
  const toEntry = (service: string = entry): boolean => service === entry
  if (!requests.some(({ service }) => toEntry(service)))
    return { requests: [], why: `no request goes to the entry, ${entry}. ${useOthers}` }
  const found = requests.filter(
    ({ service }, index) =>
      toEntry(service) &&
      answers.every((each) => each[index]!.differences.length === 0 && (each[index]!.status ?? 500) < 500),
  )
  // What a framework does with a path that it does not have says nothing about the app.
  const isFound = (request: TriedRequest): boolean => answers[0]![requests.indexOf(request)]!.status !== 404
  if (found.length === 0 || found.some(isFound)) return { requests: found }
  const isAll = answers.flat().every(({ status }) => status === 404)
  const which = isAll ? 'to the requests' : `of the entry, ${entry}, that could be measured`
  return { requests: [], why: `every answer ${which} was a 404. ${useOthers}` }
}
