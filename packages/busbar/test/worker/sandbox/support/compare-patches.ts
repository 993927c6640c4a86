/** Compares what the sandbox patches: before, during and after its installation. */
import { ChildProcess } from 'node:child_process'
import fs, * as fsNames from 'node:fs'
import Module from 'node:module'
import net from 'node:net'
import process, * as processNames from 'node:process'
import workerThreads, { parentPort } from 'node:worker_threads'
import { atWorkFault, isAtWork } from '../../../../src/node/requests-at-work.ts'
import { installSandbox } from '../../../../src/worker/sandbox/sandbox.ts'
import { appOf, serviceOf } from './hosted-app.ts'

type Properties = Record<string, unknown>

function snapshot(): Map<string, unknown> {
  const places: Record<string, object> = {
    process,
    processNames,
    fs,
    fsNames,
    Module,
    workerThreads,
    'net.Server': net.Server.prototype,
    ChildProcess: ChildProcess.prototype,
    stdout: process.stdout,
    stderr: process.stderr,
  }
  const found = new Map<string, unknown>()
  for (const [name, place] of Object.entries(places)) {
    for (const key of [...Object.keys(place), 'on', 'emit', 'write']) {
      const value = (place as Properties)[key]
      if (typeof value === 'function' || key === 'env' || key === 'argv' || key === '_cache')
        found.set(`${name}.${key}`, value)
    }
  }
  for (const event of ['uncaughtException', 'unhandledRejection', 'exit'])
    found.set(event, process.listenerCount(event))
  return found
}

function differences(before: Map<string, unknown>, after: Map<string, unknown>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key))
}

const before = snapshot()
const app = appOf([serviceOf('one', 'koa'), serviceOf('two', 'koa')])
const signs = { isAtWork, fault: atWorkFault }
const sandbox = installSandbox({ app, log: () => {}, fault: () => {}, paths: () => '/nowhere', signs })
const installed = differences(before, snapshot())
sandbox[Symbol.dispose]()
parentPort!.postMessage({ installed, disposed: differences(before, snapshot()) })
