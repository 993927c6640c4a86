/**
 * Flags with which SIGUSR1 opens the debugger of a worker process on a free port of the loopback
 * interface. The address has a secret of 128 bits, which is only in its standard error. Nothing is
 * open before the signal.
 */
export const debuggerFlags = ['--inspect-port=127.0.0.1:0', '--inspect-publish-uid=stderr'] as const

/** For a process that debuggers are to find by its port: Chrome and editors ask over HTTP. */
export const findableFlag = '--inspect-publish-uid=stderr,http'

/** Whether a process with these flags opens its debugger as described. */
export function hasDebuggerFlags(flags: readonly string[]): boolean {
  return debuggerFlags.every((flag) => flags.includes(flag))
}

/** In a worker process: the program, and processes that it forks, do not see them. */
export function hideDebuggerFlags(): void {
  process.execArgv = process.execArgv.filter((flag) => ![...debuggerFlags, findableFlag].includes(flag))
}
