/** Commands on running apps. */
import type { Command } from '../command.ts'
import { all, appFlag, common, environment, json, lines, pid, seconds, user } from './flags.ts'

const ps: Command = {
  name: 'ps',
  summary: 'show the running apps, or the instances of one',
  operands: ['[app]'],
  description:
    'Lists all running apps of this user. With the name or the folder of one, it shows each of its instances: the ' +
    'placement, state, processor, memory, event loop and calls, how often its worker was restarted, and why. Works ' +
    'while a service blocks its thread.',
  flags: [json, ...common],
  load: async () => (await import('../commands/apps/ps.ts')).ps,
}

const describe: Command = {
  name: 'describe',
  summary: 'show the resolved config of a running app',
  operands: ['[app]'],
  description:
    'Shows how a running app was started, its addresses and routes, and each service with its placement, entry, ' +
    'folder and environment. Then who called whom, how often, and how long that took. Secrets are masked.',
  flags: [pid, json, ...common],
  load: async () => (await import('../commands/apps/describe.ts')).describe,
}

const stop: Command = {
  name: 'stop',
  summary: 'stop a running app gracefully',
  operands: ['[app]'],
  description:
    'Stops every run of the app, as a signal does: requests in flight are finished, within the stopTimeout of the ' +
    'config. Returns when its process has ended.',
  flags: [pid, all, json, ...common],
  load: async () => (await import('../commands/apps/stop.ts')).stop,
}

const interval = {
  name: 'interval',
  value: 'ms',
  summary: 'milliseconds between two readings; default: 1000, for why-slow 5000',
} as const

const top: Command = {
  name: 'top',
  summary: 'show running apps, live',
  operands: ['[app]'],
  description:
    'Shows what busbar ps shows, and updates it until q or Ctrl-C; of a named app also its busiest edges: who calls ' +
    'whom, how often, and how long that takes. With --json it prints one line for each time.',
  flags: [interval, { name: 'count', value: 'n', summary: 'end after this many readings' }, json, ...common],
  load: async () => (await import('../commands/apps/top.ts')).top,
}

const whySlow: Command = {
  name: 'why-slow',
  summary: 'name what costs most in a running app',
  operands: ['[app]'],
  description:
    'Watches a running app for some seconds. Names blocked workers, calls that wait, busy event loops, the service whose ' +
    'own code takes most of the time of all calls, and the hop in which most time is spent.',
  flags: [interval, pid, json, ...common],
  load: async () => (await import('../commands/apps/why-slow.ts')).whySlow,
}

const advise: Command = {
  name: 'advise',
  summary: 'say where the services of a running app should run',
  operands: ['[app]'],
  description:
    'Watches a running app for some seconds. From its calls and what calls cost on this machine, which is measured ' +
    'once, it estimates what each service would cost elsewhere. With --try it moves the services of the first ' +
    'suggestion, measures again, and moves them back if that is worse.',
  flags: [
    seconds,
    { name: 'try', summary: 'apply the first suggestion, and take it back if it is worse' },
    { name: 'calibrate', summary: 'measure again what calls cost on this machine' },
    pid,
    json,
    ...common,
  ],
  load: async () => (await import('../commands/apps/advise.ts')).advise,
}

const logs: Command = {
  name: 'logs',
  summary: 'show the log of a running app',
  operands: ['[service]'],
  description:
    'Shows the last lines of the log, of one service or of all. The supervisor of the app keeps them in memory, ' +
    'wherever else the log goes. With --json each line is printed as it is on standard output.',
  flags: [
    appFlag,
    pid,
    { name: 'follow', short: 'f', summary: 'go on with further lines until Ctrl-C' },
    lines,
    { name: 'level', value: 'level', summary: 'only lines of this level or above' },
    { name: 'since', value: 'when', summary: 'only later lines: 30s, 10m, 2h, 1d, or a date' },
    { name: 'grep', value: 'pattern', summary: 'only lines that match this regular expression' },
    json,
    ...common,
  ],
  load: async () => (await import('../commands/apps/logs.ts')).logs,
}

const traces: Command = {
  name: 'traces',
  summary: 'list the recent traces of a running app, or show one',
  operands: ['[trace]'],
  description:
    'Lists the last traces that the supervisor of the app keeps in memory. With the id of one, it shows each of its ' +
    'calls: over which transport, how long it waited, was under way and ran, its bytes and status. The app needs ' +
    '`traces` in its config.',
  flags: [
    appFlag,
    pid,
    { name: 'service', value: 'name', summary: 'only traces with a call to this service' },
    { name: 'failed', summary: 'only traces with a failed call' },
    lines,
    json,
    ...common,
  ],
  load: async () => (await import('../commands/apps/traces.ts')).traces,
}

const save: Command = {
  name: 'save',
  summary: 'remember which apps run in the background',
  operands: [],
  description:
    'Writes the list of all apps of this user that busbar start -d has started, with their flags, for busbar ' +
    'resurrect. Variables of the environment are not saved.',
  flags: [json, ...common],
  load: async () => (await import('../commands/apps/save.ts')).save,
}

const resurrect: Command = {
  name: 'resurrect',
  summary: 'start the saved apps again',
  operands: [],
  description:
    'Starts the apps of busbar save in the background, one after the other, with the environment of this command. ' +
    'Apps that run already are left alone. Ends with 1 if one fails; the others start nevertheless.',
  flags: [json, ...common],
  load: async () => (await import('../commands/apps/resurrect.ts')).resurrect,
}

const startup: Command = {
  name: 'startup',
  summary: 'install a unit of systemd for an app',
  operands: ['<systemd>', '[folder|file]'],
  description:
    'Writes a unit that runs the app in the foreground and restarts it, and prints the commands that enable it. As ' +
    'root it is a unit of the machine, otherwise of the user. Starts nothing itself.',
  flags: [
    environment,
    user,
    { name: 'socket', summary: 'systemd opens the ports, and keeps them open while the app restarts' },
    { name: 'saved', summary: 'one unit that starts the apps of busbar save instead' },
    { name: 'print', summary: 'print the unit instead of writing it' },
    json,
    ...common,
  ],
  load: async () => (await import('../commands/apps/startup.ts')).startup,
}

const doctor: Command = {
  name: 'doctor',
  summary: 'check this machine and the app, and say what to do',
  operands: ['[folder|file]'],
  description:
    'Checks the version of Node, the limits of descriptors, connections, processes and memory, the folders that Busbar ' +
    'writes to, and the config and ports of the app. Ends with 1 if something would keep the app from running.',
  flags: [environment, json, ...common],
  load: async () => (await import('../commands/apps/doctor.ts')).doctor,
}

export const appCommands: readonly Command[] = [
  ps,
  top,
  whySlow,
  advise,
  describe,
  logs,
  traces,
  stop,
  save,
  resurrect,
  startup,
  doctor,
]
