/** Commands that load an app: from its folder, its config, or a single program. */
import type { Command } from '../command.ts'
import { common, environment, inspect, json, logLevel, open, overrides, pid } from './flags.ts'

const start: Command = {
  name: 'start',
  summary: 'run an app',
  operands: ['[folder|file]'],
  description:
    'Runs the app of a folder (default: the working directory) as its busbar.config says, or a single program ' +
    'without a config. SIGINT, SIGTERM or SIGHUP stop it gracefully; a second signal ends it at once.',
  flags: [
    ...overrides,
    logLevel,
    open,
    { name: 'detach', short: 'd', summary: 'run it in the background; return when it serves, or with its error' },
    json,
    { name: 'once', summary: 'end when the process crashes, instead of restarting' },
    ...common,
  ],
  respawns: true,
  load: async ({ detach }) =>
    detach === true
      ? (await import('../commands/start-background.ts')).startInBackground
      : (await import('../commands/start.ts')).start,
}

const dev: Command = {
  name: 'dev',
  summary: 'run an app and restart it when its files change',
  operands: ['[folder|file]'],
  description:
    'Runs the app and watches the folders of its services, its config and its .env file. A new version takes over ' +
    'when all of it has started. If it fails to start, the previous version keeps serving.',
  flags: [...overrides, inspect, logLevel, open, ...common],
  load: async () => (await import('../commands/dev.ts')).dev,
}

const check: Command = {
  name: 'check',
  summary: 'validate an app and show how it would run',
  operands: ['[folder|file]'],
  description: 'Reads the config, finds every entry and prints the resolved plan. Starts no service.',
  flags: [
    ...overrides,
    { name: 'live', summary: 'ask the running app instead: other apps that it calls, and its cluster' },
    pid,
    json,
    ...common,
  ],
  load: async () => (await import('../commands/check.ts')).check,
}

const build: Command = {
  name: 'build',
  summary: 'build the services of an app',
  operands: ['[folder|file]'],
  description:
    'Runs the build of each service that has one, in the order of needs: `build` of the config, else scripts.build ' +
    'of its package.json. Ends at the first failure.',
  flags: [environment, json, ...common],
  load: async () => (await import('../commands/build.ts')).build,
}

const openapi: Command = {
  name: 'openapi',
  summary: 'print the OpenAPI document of an app',
  operands: ['[folder|file]'],
  description:
    'Prints the document that the app serves at /openapi.json: its typed services by their contracts, and the ' +
    'documents of its programs. Starts the app on a free port for that, and stops it again.',
  flags: [environment, ...common],
  load: async () => (await import('../commands/openapi.ts')).openapi,
}

const proto: Command = {
  name: 'proto',
  summary: 'print the .proto of a typed service',
  operands: ['[folder|file]', '[service]'],
  description:
    'Prints the protobuf form of a contract, from which other languages generate gRPC clients. The numbers of its ' +
    'fields are in proto.lock.json beside the contract. A contract that contradicts it is refused. Starts nothing.',
  flags: [
    { name: 'lock', summary: 'write proto.lock.json of each service, with the numbers of new fields' },
    { name: 'into', value: 'folder', summary: 'write the .proto files of all services into a folder' },
    environment,
    ...common,
  ],
  load: async () => (await import('../commands/proto.ts')).proto,
}

const bench: Command = {
  name: 'bench',
  summary: 'measure ways of running and connecting services, your own app too',
  operands: ['<scenario|folder>'],
  description:
    'Measures alternatives side by side on this machine. All arguments go to the lab, a separate package (busbar-lab): ' +
    'busbar bench --help lists its scenarios and flags.',
  flags: [],
  forwards: true,
  load: async () => (await import('../commands/bench.ts')).bench,
}

const cert: Command = {
  name: 'cert',
  summary: 'make the certificate by which an app authenticates to other apps',
  operands: ['[name]', '[hosts...]'],
  description:
    'Makes a certificate for the app of this name, for the names and addresses at which others reach it; by default ' +
    'those of this machine. It is signed by the CA in the folder ca, which the first call makes. Call it again to renew: ' +
    'a running app reads the files when they change. With --revoke it adds a certificate to the list of the CA instead.',
  flags: [
    { name: 'ca', value: 'folder', summary: 'where the CA and its key are; default: ca' },
    { name: 'certs', value: 'folder', summary: 'where the certificate, its key and that of the CA go; default: certs' },
    { name: 'days', value: 'n', summary: 'how long the certificate is valid; default: 365' },
    { name: 'revoke', value: 'file', summary: 'add the certificate in this file to crl.pem of the CA' },
    json,
    ...common,
  ],
  load: async () => (await import('../commands/cert.ts')).cert,
}

const completion: Command = {
  name: 'completion',
  summary: 'print the script that completes commands in a shell',
  operands: ['<bash|zsh|fish>', '[words...]'],
  takesEmptyOperands: true,
  description:
    'Prints a script for the shell: source <(busbar completion bash). It completes commands, flags, the names of ' +
    'running apps and those of services.',
  flags: [...common],
  load: async () => (await import('../commands/completion.ts')).completion,
}

export const runCommands: readonly Command[] = [start, dev, check, build, openapi, proto, cert, bench, completion]
