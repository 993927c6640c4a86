/** What a command is, and what it works with. The commands themselves are in `command-table.ts`. */
import type { TemplateName } from '../adopt/init/template-names.ts'
import type { Placement } from '../config/app.ts'
import type { LogLevel } from '../observe/log.ts'
import type { Terminal } from './terminal/terminal.ts'

export interface Command {
  readonly name: string
  readonly summary: string
  /** In help: `<service>` must be given, `[folder|file]` may be. */
  readonly operands: readonly string[]
  readonly description: string
  readonly flags: readonly Flag[]
  /** All arguments after the command belong to another package, including flags and `--help`. */
  readonly forwards?: true
  /** An operand may be the empty string, which is a mistake of a script for other commands. */
  readonly takesEmptyOperands?: true
  /** Runs in a child process that is restarted when it crashes (`respawn.ts`). */
  readonly respawns?: true
  /**
   * Loads the command and the layers below it when it runs: `--help` and the commands that only ask
   * a running app stay fast. The command resolves to the exit code.
   */
  readonly load: (flags: Flags) => Promise<(context: CommandContext) => Promise<number>>
}

export interface Flag {
  readonly name: keyof Flags
  readonly short?: string
  /** The name of its value in help; undefined for a switch. */
  readonly value?: string
  /** It may also stand without a value. The next word is its value only if it looks like one. */
  readonly optional?: RegExp
  /** May be given several times; its value is a list. */
  readonly repeats?: true
  readonly summary: string
}

/** The validated flags of a command line. */
export interface Flags {
  readonly env?: string
  readonly workers?: number | 'auto'
  readonly port?: number
  readonly host?: string
  readonly run?: Placement['run']
  /** The name of a service; true for all. */
  readonly inspect?: string | true
  readonly 'log-level'?: LogLevel
  readonly json?: true
  readonly app?: string
  readonly pid?: number
  readonly all?: true
  readonly instance?: number
  readonly instances?: number
  readonly seconds?: number
  readonly output?: string
  readonly header?: readonly string[]
  readonly data?: string
  readonly follow?: true
  readonly level?: LogLevel
  readonly since?: string
  readonly grep?: string
  readonly lines?: number
  /** A service. */
  readonly service?: string
  readonly failed?: boolean
  readonly try?: true
  readonly calibrate?: true
  readonly interval?: number
  readonly count?: number
  readonly timeout?: number
  readonly once?: true
  readonly open?: true
  readonly detach?: true
  readonly live?: true
  readonly user?: true
  readonly saved?: true
  readonly socket?: true
  readonly print?: true
  readonly write?: true
  readonly path?: readonly string[]
  readonly requests?: string
  readonly budget?: number
  readonly 'rewrite-localhost'?: true
  readonly template?: TemplateName
  readonly yes?: true
  readonly ca?: string
  readonly certs?: string
  readonly days?: number
  readonly revoke?: string
  readonly lock?: true
  readonly into?: string
  readonly verbose?: true
  readonly help?: true
  readonly version?: true
}

export interface CommandContext {
  /** As on the command line; as many as the command requires. */
  readonly operands: readonly string[]
  readonly flags: Flags
  /** All arguments of a command that forwards them. */
  readonly rest: readonly string[]
  readonly terminal: Terminal
  /** All commands, for those that list them. */
  readonly commands: readonly Command[]
}
