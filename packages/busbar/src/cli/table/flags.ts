/** The flags of all commands. A flag means the same for every command that has it. */
import type { Flag } from '../command.ts'

export const common: readonly Flag[] = [
  { name: 'verbose', summary: 'show the whole stack of an error (also: BUSBAR_DEBUG=1)' },
  { name: 'help', short: 'h', summary: 'show this help' },
]

export const environment: Flag = {
  name: 'env',
  value: 'name',
  summary: "merge the config's environments.<name> over it",
}

export const run: Flag = {
  name: 'run',
  value: 'where',
  summary: 'shared, thread or process: the placement of every service that can run there; for move: of the service',
}

/** Flags that override the config. */
export const overrides: readonly Flag[] = [
  environment,
  { name: 'workers', short: 'w', value: 'n|auto', summary: 'the number of workers; overrides the config' },
  {
    name: 'port',
    short: 'p',
    value: 'port',
    summary: "the gateway's port; overrides the config; 0 for a free one",
  },
  { name: 'host', value: 'address', summary: "the gateway's address; overrides the config" },
  run,
]

export const open: Flag = {
  name: 'open',
  summary: 'open the dashboard: on a loopback port of its own, with a token made for this run',
}

export const inspect: Flag = {
  name: 'inspect',
  value: 'service',
  // A folder or a file has a slash or a dot.
  optional: /^[a-z0-9][a-z0-9-]*$/,
  summary: 'open an inspector in each worker, or in those of one service, for a debugger',
}

export const json: Flag = { name: 'json', summary: 'print it as JSON' }

export const logLevel: Flag = {
  name: 'log-level',
  value: 'level',
  summary: 'trace, debug, info (the default), warn, error, fatal',
}

/** Which running app a command is for. */
export const appFlag: Flag = {
  name: 'app',
  short: 'a',
  value: 'name|folder',
  summary: 'the running app; default: the one of the working directory',
}

export const lines: Flag = {
  name: 'lines',
  short: 'n',
  value: 'n',
  summary: 'at most this many, the last ones; default: 100, for traces and dead letters 20',
}

export const pid: Flag = {
  name: 'pid',
  value: 'pid',
  summary: 'the process of the run, as busbar ps shows it; chooses the app too, if none is named',
}

export const all: Flag = { name: 'all', summary: 'stop: all apps of this user; env: inherited variables, too' }

export const instance: Flag = {
  name: 'instance',
  value: 'n',
  summary: 'which instance of the service; default: the first that serves',
}

export const timeout: Flag = {
  name: 'timeout',
  value: 'ms',
  summary: 'milliseconds to wait for the answer; default: 30000',
}

export const seconds: Flag = { name: 'seconds', value: 'n', summary: 'how long to record or to watch; default: 10' }

export const output: Flag = { name: 'output', short: 'o', value: 'file', summary: 'the file to write' }

export const user: Flag = { name: 'user', summary: 'a unit of this user, also as root' }

export const write: Flag = { name: 'write', summary: 'write the files instead of printing them; no file is replaced' }

/** Flags without a command. */
export const globalFlags: readonly Flag[] = [
  { name: 'version', short: 'v', summary: 'show the version' },
  { name: 'help', short: 'h', summary: 'show this help' },
]
