import { BusbarError } from '../../contract/errors.ts'
import { printError } from './print-error.ts'
import type { Output } from './terminal.ts'

/**
 * Does `work`, which loads modules of the app in this process. If one of them ends the process, or
 * never settles, that is said, and the exit code is not 0. `what`: the command, for the message.
 */
export async function reportingAnEarlyEnd<T>(what: string, output: Output, work: () => Promise<T>): Promise<T> {
  const onExit = (code: number): void => {
    const error = endedEarly(what, code)
    printError(output, error, false)
    if (code === 0) process.exitCode = error.exitCode
  }
  process.on('exit', onExit)
  try {
    return await work()
  } finally {
    process.off('exit', onExit)
  }
}

/** Node's code for a process that has nothing to wait for, and is not done. */
const unsettled = 13

function endedEarly(what: string, code: number): BusbarError {
  const why = code === unsettled ? 'waits for something that never comes' : `called process.exit(${code})`
  return new BusbarError('CONTRACT_INVALID', {
    message: `${what} was not done: a module that it has loaded ${why}`,
    hint: 'A contract, and all that it imports, may only define things. What starts or ends a program belongs into other modules.',
  })
}
