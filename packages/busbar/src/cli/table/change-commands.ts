/** Commands that change a running app. */
import type { Command } from '../command.ts'
import { appFlag, common, json, pid, run } from './flags.ts'

const restart: Command = {
  name: 'restart',
  summary: 'stop a running app and start it again',
  operands: ['[app]'],
  description:
    'Reads the config, then stops the whole app and starts it again in the same process. Connections are closed. ' +
    'Returns when the app is ready. Use reload to keep serving.',
  flags: [pid, json, ...common],
  load: async () => (await import('../commands/changes/restart.ts')).restart,
}

const reload: Command = {
  name: 'reload',
  summary: 'apply a new config and new code without a failed request',
  operands: ['[service]'],
  description:
    'Reads the config again and applies what differs. Replaces the workers of the service, or of all services. The ' +
    'new workers take over when all of them are ready; otherwise the running ones stay. Ends with RESTART_NEEDED, ' +
    'before anything changes, if only a restart can apply the config.',
  flags: [appFlag, pid, json, ...common],
  load: async () => (await import('../commands/changes/service-changes.ts')).reload,
}

const scale: Command = {
  name: 'scale',
  summary: 'change the number of instances of a service',
  operands: ['<service>', '<n|+n>'],
  description:
    'Sets the number of instances, or changes it by a number: +2, or for fewer -- -1. For a shared service it changes ' +
    'the number of shared workers. The change lasts until the app is restarted.',
  flags: [appFlag, pid, json, ...common],
  load: async () => (await import('../commands/changes/service-changes.ts')).scale,
}

const move: Command = {
  name: 'move',
  summary: 'change where a service runs, while it serves',
  operands: ['<service>'],
  description:
    'Starts the service at its new placement, and drains the old one when it is ready. It stays there until the app ' +
    'is restarted.',
  flags: [
    appFlag,
    pid,
    run,
    { name: 'instances', value: 'n', summary: 'how many instances; default: as many as before' },
    json,
    ...common,
  ],
  load: async () => (await import('../commands/changes/service-changes.ts')).move,
}

export const changeCommands: readonly Command[] = [reload, scale, move, restart]
