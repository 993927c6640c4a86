import { fileCases } from './file-cases.mjs'
import { folderCases } from './folder-cases.mjs'
import { processCases } from './process-cases.mjs'

/** By name, in the order in which they run. */
export const cases = { ...fileCases, ...folderCases, ...processCases }
