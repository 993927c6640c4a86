import { constants } from 'node:os'

/** What a system call says that failed on a connection. */
export function socketError(syscall: 'read' | 'write', code: 'ECONNRESET' | 'EPIPE'): NodeJS.ErrnoException {
  return Object.assign(new Error(`${syscall} ${code}`), { code, errno: -constants.errno[code], syscall })
}

/** What Node says to a write that waits for a connection which then never came. */
export function closedBeforeConnection(): Error {
  return Object.assign(new Error('Socket closed before the connection was established'), {
    code: 'ERR_SOCKET_CLOSED_BEFORE_CONNECTION',
  })
}
