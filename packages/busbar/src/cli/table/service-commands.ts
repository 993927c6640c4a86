/** Commands on the services of a running app. */
import type { Command } from '../command.ts'
import { all, appFlag, common, instance, json, lines, output, pid, seconds, timeout } from './flags.ts'

const one = [appFlag, pid] as const

const env: Command = {
  name: 'env',
  summary: 'show the environment of services; secrets are masked',
  operands: ['[service]'],
  description:
    'Shows the variables that the config sets for each service of the running app, or for one. Values whose name or ' +
    'form is that of a secret are masked.',
  flags: [...one, all, json, ...common],
  load: async () => (await import('../commands/services/env.ts')).env,
}

const inject: Command = {
  name: 'inject',
  summary: 'send one request to a service',
  operands: ['<service>', '<METHOD>', '<path>'],
  description:
    'Sends a request to a service of the running app, as other services do, whether or not it has a route. Prints the ' +
    'body; status and headers go to standard error. Ends with 1 for a status of 400 or more.',
  flags: [
    ...one,
    {
      name: 'header',
      short: 'H',
      value: 'name: value',
      repeats: true,
      summary: 'a header; may be given several times',
    },
    { name: 'data', short: 'd', value: 'text|@file', summary: 'the body; @- reads standard input' },
    timeout,
    json,
    ...common,
  ],
  load: async () => (await import('../commands/services/inject.ts')).inject,
}

const call: Command = {
  name: 'call',
  summary: 'call a method of a typed service',
  operands: ['<service>', '<method>', '[json]'],
  description:
    'Calls a method of a typed service of the running app and prints its result as JSON, one line for each value of a ' +
    'stream. The input is JSON; for a class it is the list of arguments.',
  flags: [...one, timeout, json, ...common],
  load: async () => (await import('../commands/services/call.ts')).call,
}

const queue: Command = {
  name: 'queue',
  summary: 'list the queue and its dead letters, retry or drop them',
  operands: ['[retry|drop]', '[number|all]'],
  description:
    'Shows how many items of each method wait, run and are dead letters, and why the latest died. `retry` puts a dead ' +
    'letter back, `drop` deletes it; `all` stands for all of them.',
  flags: [...one, lines, json, ...common],
  load: async () => (await import('../commands/services/queue.ts')).queue,
}

const signal: Command = {
  name: 'signal',
  summary: 'run the handlers that a service has for a signal',
  operands: ['<service>', '<signal>'],
  description:
    'Runs the handlers of every instance, in threads and processes; a command gets the real signal. An instance ' +
    'without a handler is left alone. Ends with 1 if no instance has one.',
  flags: [...one, json, ...common],
  load: async () => (await import('../commands/services/signal.ts')).signal,
}

const heapSnapshot: Command = {
  name: 'heap-snapshot',
  summary: 'write a heap snapshot of a service',
  operands: ['<service>'],
  description:
    'Writes a snapshot of the heap of the worker that hosts the service, for the memory panel of Chrome. The worker ' +
    'is paused meanwhile. The file holds what the service has in memory, secrets too; only its user can read it.',
  flags: [...one, instance, output, json, ...common],
  load: async () => (await import('../commands/services/profile.ts')).heapSnapshot,
}

const profile: Command = {
  name: 'profile',
  summary: 'write a profile of a service: processor or allocations',
  operands: ['<cpu|heap>', '<service>'],
  description:
    'Writes a profile of the worker that hosts the service, for the performance or the memory panel of Chrome: where ' +
    'it uses the processor, or where it allocates memory.',
  flags: [...one, instance, seconds, output, json, ...common],
  load: async () => (await import('../commands/services/profile.ts')).profile,
}

const repl: Command = {
  name: 'repl',
  summary: 'run JavaScript in a service',
  operands: ['<service>'],
  description:
    'Reads lines of JavaScript, runs them in the worker of the service, with its variables and modules, and prints the ' +
    'results. await works. Only over the admin socket, never over the admin port.',
  flags: [...one, instance, ...common],
  load: async () => (await import('../commands/services/repl.ts')).repl,
}

export const serviceCommands: readonly Command[] = [env, inject, call, queue, signal, heapSnapshot, profile, repl]
