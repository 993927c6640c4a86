import { constants } from 'node:os'

/** The error of a system call that failed on a connection. */
export function systemError(syscall: 'read' | 'write', code: 'ECONNRESET' | 'EPIPE'): NodeJS.ErrnoException {
  return Object.assign(new Error(`${syscall} ${code}`), { code, errno: -constants.errno[code], syscall })
}
