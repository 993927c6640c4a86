import { BusbarError } from '../../contract/errors.ts'
import { printError } from './print-error.ts'
import type { Output } from './terminal.ts'

/**
 * Does `work`, which loads modules of the app in this process. If one of them ends the process, or
 * never settles, that is said, and the exit code is not 0. `what`: the command, for the message.
 */
export async function reportingAnEarlyEnd<T>(what: string, output: Output, work: () => Promise<T>): Promise<T> {
  let isUnsettled = false
  // Not emitted by `process.exit`.
  const onEmpty = (): void => void (isUnsettled = true)
  const onExit = (code: number): void => {
    const error = endedEarly(what, isUnsettled ? undefined : code)
    printError(output, error, false)
    if (code === 0) process.exitCode = isUnsettled ? unsettled : error.exitCode
  }
  process.on('beforeExit', onEmpty).on('exit', onExit)
  try {
    return await work()
  } finally {
    process.off('beforeExit', onEmpty).off('exit', onExit)
  }
}

/** Node's code for a process that has nothing to wait for, and is not done. */
const unsettled = 13

/** `code`: of an exit. Undefined if there was none. */
function endedEarly(what: string, code: number | undefined): BusbarError {
  const why = code === undefined ? 'waits for something that never comes' : `called process.exit(${code})`
  return new BusbarError('CONTRACT_INVALID', {
    message: `${what} was not done: a module that it has loaded ${why}`,
    hint: 'A contract, and all that it imports, may only define things. What starts or ends a program belongs into other modules.',
  })
}
