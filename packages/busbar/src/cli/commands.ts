/** The command table: what `busbar` understands. Parsing, `--help` and `docs/reference/cli.md` all follow it. */
import type { Placement } from '../config/app.ts'
import type { LogLevel } from '../observe/log.ts'
import type { Context } from './context.ts'

export interface Command {
  readonly name: string
  readonly summary: string
  /** What may stand behind the command, if anything. */
  readonly operand: string | undefined
  readonly description: string
  readonly flags: readonly Flag[]
  /** What stands behind it is another package's to read, flags and `--help` too. */
  readonly forwards?: true
  /** It runs in a process inside of a small one that starts it again when it crashes (`keeper.ts`). */
  readonly kept?: true
  /** Loaded only when it runs, so that `--help` stays quick. Resolves to the exit code. */
  readonly load: () => Promise<(context: Context) => Promise<number>>
}

export interface Flag {
  readonly name: keyof Flags
  readonly short?: string
  /** The name of its value in help; undefined for a switch. */
  readonly value?: string
  readonly summary: string
}

/** What was given on the command line, read and checked. */
export interface Flags {
  readonly workers?: number | 'auto'
  readonly port?: number
  readonly host?: string
  readonly run?: Placement['run']
  readonly 'log-level'?: LogLevel
  readonly json?: true
  readonly once?: true
  readonly verbose?: true
  readonly help?: true
  readonly version?: true
}

const common: readonly Flag[] = [
  { name: 'verbose', summary: 'show the whole stack of an error (also: BUSBAR_DEBUG=1)' },
  { name: 'help', short: 'h', summary: 'show this help' },
]

/** Overrides of the config. */
const overrides: readonly Flag[] = [
  { name: 'workers', short: 'w', value: 'n|auto', summary: 'the number of workers; overrides the config' },
  {
    name: 'port',
    short: 'p',
    value: 'port',
    summary: "the gateway's port; overrides the config; 0 for a free one",
  },
  { name: 'host', value: 'address', summary: "the gateway's address; overrides the config" },
  { name: 'run', value: 'where', summary: 'shared, thread or process: where every service runs that can run there' },
]

const json: Flag = { name: 'json', summary: 'print it as JSON' }

const logLevel: Flag = {
  name: 'log-level',
  value: 'level',
  summary: 'trace, debug, info (the default), warn, error, fatal',
}

/** Understood without a command. */
export const globalFlags: readonly Flag[] = [
  { name: 'version', short: 'v', summary: 'show the version' },
  { name: 'help', short: 'h', summary: 'show this help' },
]

export const commands: readonly Command[] = [
  {
    name: 'start',
    summary: 'run an app',
    operand: '[folder|file]',
    description:
      'Runs the app of a folder (default: this one): what its busbar.config says, or its one program if there is ' +
      'no config. SIGINT, SIGTERM or SIGHUP stop it gracefully, a second one at once.',
    flags: [
      ...overrides,
      logLevel,
      { name: 'once', summary: 'end when the process crashes, instead of restarting' },
      ...common,
    ],
    kept: true,
    load: async () => (await import('./start.ts')).start,
  },
  {
    name: 'dev',
    summary: 'run an app and restart it when its files change',
    operand: '[folder|file]',
    description:
      'Runs the app and watches the folders of its services, its config and its env files. A new version takes over ' +
      'when all of it has started; one that fails to start leaves the old one serving.',
    flags: [...overrides, logLevel, ...common],
    load: async () => (await import('./dev.ts')).dev,
  },
  {
    name: 'check',
    summary: 'validate an app and show how it would run',
    operand: '[folder|file]',
    description: 'Reads the config, finds every entry and prints the resolved plan. Starts nothing.',
    flags: [...overrides, json, ...common],
    load: async () => (await import('./check.ts')).check,
  },
  {
    name: 'openapi',
    summary: 'print the OpenAPI document of an app',
    operand: '[folder|file]',
    description:
      'Prints what the app serves at /openapi.json: its typed services by their contracts, and the documents that its ' +
      'programs publish. Starts the app for it, on a free port, and stops it.',
    flags: [...common],
    load: async () => (await import('./openapi.ts')).openapi,
  },
  {
    name: 'ps',
    summary: 'show the running instances of an app',
    operand: '[folder|file]',
    description:
      'Shows every instance of the running app of a folder: where it runs, its state, processor, memory, event loop, ' +
      'calls, and how often it was started again and why. Also while a service blocks its thread.',
    flags: [json, ...common],
    load: async () => (await import('./ps.ts')).ps,
  },
  {
    name: 'bench',
    summary: 'measure ways of running and connecting services, your own app too',
    operand: '<scenario|folder>',
    description:
      'Measures on this machine, side by side. All arguments go to the lab, a package of its own (busbar-lab): ' +
      'busbar bench --help lists its scenarios and flags.',
    flags: [],
    forwards: true,
    load: async () => (await import('./bench.ts')).bench,
  },
]

/** What the command ends with; `docs/reference/cli.md` lists the same. */
export const exitCodes: Readonly<Record<number, string>> = {
  0: 'all went well; for start and dev: it was stopped by a signal',
  1: 'the app failed: a program did not start, a worker died more than maxRestarts times in a row, a port was in use; for bench: an arm is invalid, or slower than before',
  2: 'the command line is wrong, or this Node is not supported',
  3: 'the config is wrong',
  129: 'a second SIGHUP ended it at once',
  130: 'a second SIGINT ended it at once; for bench: ended by hand, with the complete rounds',
  137: 'it was stopped, but only SIGKILL could end it: a thread hung in a system call (execSync, a FIFO), or the process was suspended or stuck',
  143: 'a second SIGTERM ended it at once',
}
