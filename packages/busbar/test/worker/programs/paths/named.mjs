/** Every way to import a function must give the same one. */
import fs, { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'fs/promises'
import * as child from 'child_process'
import { createRequire } from 'node:module'
import { cwd } from 'node:process'
import { promisify } from 'node:util'

const require = createRequire(import.meta.url)
const { readFileSync: required } = require('fs')
const { promises } = require('node:fs')
const shape = (one) => ({
  name: one.name,
  length: one.length,
  keys: Reflect.ownKeys(one)
    .filter((key) => key !== 'prototype')
    .map(String)
    .sort(),
})

export const request = {
  'named import': () => [readFileSync('data/one.txt', 'utf8'), existsSync('data')],
  'named import of promises': () => readFile('data/one.txt', 'utf8'),
  'destructured require': async () => [
    required('data/one.txt', 'utf8'),
    await promises.readFile('data/one.txt', 'utf8'),
  ],
  'namespace import': () => String(child.execFileSync('cat', ['data/one.txt'])),
  builtin: () => process.getBuiltinModule('fs').readFileSync('data/one.txt', 'utf8'),
  'named cwd': () => cwd() === fs.realpathSync('.'),
  'shapes of fs': () => shapes(fs),
  'shapes of fs.promises': () => shapes(fs.promises),
  'shapes of child_process': () => shapes(child.default),
  'shapes of process': () => ['loadEnvFile', 'dlopen'].map((name) => shape(process[name])),
  'shapes of the current folder': () => [process.cwd.length, process.chdir.length, process.chdir.disabled],
  'what hangs on functions': () => [
    shape(fs.realpath.native),
    shape(fs.realpathSync.native),
    shape(fs.exists[promisify.custom]),
    shape(child.exec[promisify.custom]),
    shape(child.execFile[promisify.custom]),
  ],
}

function shapes(from) {
  const functions = Object.entries(from).filter(([, value]) => typeof value === 'function')
  return Object.fromEntries(functions.map(([name, value]) => [name, shape(value)]))
}
