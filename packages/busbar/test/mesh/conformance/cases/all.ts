import type { Case } from '../case.ts'
import { abortCases } from './abort.ts'
import { bodyCases } from './body.ts'
import { connectionCases } from './connection.ts'
import { frameworkCases } from './frameworks.ts'
import { headCases } from './head.ts'
import { uploadCases } from './upload.ts'

export const cases: readonly Case[] = [
  ...headCases,
  ...bodyCases,
  ...uploadCases,
  ...abortCases,
  ...connectionCases,
  ...frameworkCases,
]

// A case is known by its name: to what is right for it, and to the worker that runs its program.
const names = new Set(cases.map(({ name }) => name))
if (names.size !== cases.length) throw new Error('two cases have the same name')
