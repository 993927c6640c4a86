export { command } from './command.ts'
export type { Result } from './result.ts'
