import type { Case } from '../case.ts'
import { bodyCases } from './body.ts'
import { callerGivesUp } from './caller-gives-up.ts'
import { frameworkCases } from './frameworks.ts'
import { headCases } from './head.ts'
import { informationCases } from './information.ts'
import { leftToStreams } from './left-to-streams.ts'
import { programGivesUp } from './program-gives-up.ts'
import { programThrows } from './program-throws.ts'
import { serverCases } from './server.ts'
import { socketCases } from './socket.ts'
import { uploadCases } from './upload.ts'

export const cases: readonly Case[] = [
  ...headCases,
  ...bodyCases,
  ...uploadCases,
  ...leftToStreams(),
  ...callerGivesUp,
  ...programGivesUp,
  ...programThrows,
  ...informationCases,
  ...socketCases,
  ...serverCases,
  ...frameworkCases,
]

// The name identifies a case: for its expected result, and for the worker that runs its program.
const names = new Set(cases.map(({ name }) => name))
if (names.size !== cases.length) throw new Error('two cases have the same name')
