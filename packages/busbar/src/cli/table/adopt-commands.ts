/** Commands that create a config, and files for the place where an app is deployed. */
import type { Command } from '../command.ts'
import { common, environment, json, user, write } from './flags.ts'

const importCommand: Command = {
  name: 'import',
  summary: 'print the config for what PM2, Watt, a Procfile or Compose starts',
  operands: ['[folder|file]'],
  description:
    'Reads ecosystem.config.*, watt.json, platformatic.json, Procfile or compose.yaml and prints a busbar.config.ts. ' +
    'Lists what became of every key, and why a key has no counterpart. Starts nothing; a file that is a module is run.',
  flags: [write, json, ...common],
  load: async () => (await import('../commands/adopt/import.ts')).importConfig,
}

const exportCommand: Command = {
  name: 'export',
  summary: 'print the files that deploy an app',
  operands: ['<systemd|dockerfile|kubernetes|compose>', '[folder|file]'],
  description:
    'Prints the unit that busbar startup systemd installs, a Dockerfile, a Deployment and a Service of Kubernetes, or a ' +
    'Compose file. Reads the config for ports, probes, builds and the time of a stop. Starts nothing.',
  flags: [environment, user, write, json, ...common],
  load: async () => (await import('../commands/adopt/export.ts')).exportFiles,
}

const init: Command = {
  name: 'init',
  summary: 'create an app, or the config for the services of a folder',
  operands: ['[folder]'],
  description:
    'In a new or empty folder: writes an app from a template. In any other: finds its services (workspaces, PM2, Watt, ' +
    'Compose, a Procfile, one program) and writes busbar.config.ts. Asks on a terminal, unless flags say it. Replaces no file.',
  flags: [
    { name: 'template', short: 't', value: 'name', summary: 'programs, typed or both, without a question' },
    { name: 'yes', short: 'y', summary: 'ask nothing; the template is both' },
    json,
    ...common,
  ],
  load: async () => (await import('../commands/adopt/init.ts')).init,
}

const tryCommand: Command = {
  name: 'try',
  summary: 'run an existing repository as today and under Busbar, and compare',
  operands: ['[folder|file]'],
  description:
    'Finds the services of the folder (as busbar init does), runs them as today and under Busbar in each placement, ' +
    'compares their answers, measures both, and prints a page with the config to commit. Writes nothing without --write. ' +
    'Needs the lab (busbar-lab). Exit code 1: an answer differs, or something could not run.',
  flags: [
    { name: 'path', value: '/path', repeats: true, summary: 'a path to request; may be given several times' },
    { name: 'requests', value: 'file', summary: 'requests to replay: JSON, or lines of [weight] [METHOD] /path' },
    { name: 'budget', value: 'seconds', summary: 'how long the measurements should take; default: 180; 0: none' },
    { name: 'rewrite-localhost', summary: 'calls to services at localhost go through the mesh' },
    write,
    json,
    ...common,
  ],
  load: async () => (await import('../commands/try/try.ts')).tryApp,
}

export const adoptCommands: readonly Command[] = [tryCommand, init, importCommand, exportCommand]
